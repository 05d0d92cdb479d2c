//! `tools![..]`, `prompts![..]` and `resources![..]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprAssign, ExprPath, LitStr, Token, parse::Parser, punctuated::Punctuated};

use crate::{
    errors::{Errors, Extent},
    kind::Kind,
    names,
    signature::check_path,
};

/// The items that the functions in a list are.
pub(crate) fn list(kind: Kind, tokens: TokenStream) -> TokenStream {
    let (mut errors, item, word, list) = (Errors::default(), kind.item(), kind.word(), kind.method());
    let listed = errors.check(Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens)).unwrap_or_default();
    let mut rejoinder = names::rejoinder();
    let each = listed.iter().filter_map(|function| {
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
        check_path(
            path,
            &format!("`#[handlers]` gives its type the method `{list}()`, which is called on an `Arc`"),
            &mut errors,
        );
        let item_of = Extent::of(path).member(path, quote!(__rj::ListedAs<__rejoinder::#item>), "item");
        Some(quote!(#(#attrs)* #item_of(::std::sync::Arc::new(()))))
    });
    let each: Vec<TokenStream> = each.collect();
    let (imports, items) = (names::imports(&rejoinder), names::local("items"));
    let list = quote! {
        #imports
        #[allow(unused_qualifications, reason = "paths are written in full")]
        let #items = ::std::vec::Vec::<__rejoinder::#item>::from([#(#each),*]);
        #items
    };
    let list = errors.or(&TokenStream::new(), list);
    quote!({ #list })
}
