//! `tools![..]`, `prompts![..]` and `resources![..]`.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprAssign, ExprGroup, ExprPath, Generics, LitStr, Token, parse::Parser, punctuated::Punctuated};

use super::named::Named;
use crate::{
    errors::{Errors, Extent},
    kind::Kind,
    names,
    signature::{Place, check_path},
};

/// The items that the functions in a list are.
pub(crate) fn list(kind: Kind, tokens: TokenStream) -> TokenStream {
    let (mut errors, item, word, list) = (Errors::default(), kind.item(), kind.word(), kind.method());
    let listed = errors.check(Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens)).unwrap_or_default();
    let (mut rejoinder, mut number, mut words) = (names::rejoinder(), 0, HashSet::new());
    let (mut around, mut imported) = (TokenStream::new(), TokenStream::new());
    let each = listed.iter().filter_map(|mut function| {
        // A `macro_rules!` macro passes a `$path:path` on in a group.
        let mut outer = Vec::new();
        while let Expr::Group(ExprGroup { expr, attrs, .. }) = function {
            outer.extend(attrs);
            function = expr;
        }
        if let Expr::Assign(ExprAssign { left, right, .. }) = function
            && matches!(&**left, Expr::Path(path) if path.path.is_ident("crate"))
        {
            rejoinder = errors.check(syn::parse2::<LitStr>(quote!(#right)).and_then(|path| path.parse()))?;
            return None;
        }
        let Expr::Path(ExprPath { attrs, path, .. }) = function else {
            errors.at(
                function,
                format!("`{list}![..]` takes the names of functions marked `#[{word}]`, such as `{list}![name]`"),
            );
            return None;
        };
        outer.extend(attrs);
        let attrs = outer;
        check_path(
            path,
            &format!("`#[handlers]` gives its type the method `{list}()`, which is called on an `Arc`"),
            &mut errors,
        );
        let shown = path.segments.last().map(|last| names::wire(&last.ident)).unwrap_or_default();
        let named = Named::new(
            format!("{number}_name_a_function_of_the_module_{shown}"),
            path,
            &Place::Free,
            &Generics::default(),
        );
        number += 1;
        if let Some((unmarked, word, import)) = named.import() {
            let word = word.filter(|word| words.insert(word.to_string())).map(|word| quote!(#(#attrs)* #word));
            around.extend(unmarked);
            imported.extend(quote!(#word #(#attrs)* #import));
        }
        let item_of = Extent::of(path).member(&named.ty(), quote!(__rj::ListedAs<__rejoinder::#item>), "item");
        Some(quote!(#(#attrs)* #item_of(::std::sync::Arc::new(()))))
    });
    let each: Vec<TokenStream> = each.collect();
    let (imports, items) = (names::imports(&rejoinder), names::local("items"));
    let list = quote! {
        #imports
        #around
        #[allow(dead_code, unused_imports, unused_qualifications, reason = "not everything is used in each list")]
        let #items = {
            #imported
            ::std::vec::Vec::<__rejoinder::#item>::from([#(#each),*])
        };
        #items
    };
    let list = errors.or(&TokenStream::new(), list);
    quote!({ #list })
}
