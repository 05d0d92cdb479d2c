//! `tools![..]`, `prompts![..]` and `resources![..]`.

use std::{collections::HashSet, env};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprAssign, ExprPath, Generics, LitStr, Token, parse::Parser, punctuated::Punctuated};

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
        let ty = if path.get_ident().is_some_and(may_mean_more) {
            path.to_token_stream()
        } else {
            let shown = path.segments.last().map(|last| names::wire(&last.ident)).unwrap_or_default();
            let named = Named::new(format!("{number}_{shown}"), path, &Place::Free, &Generics::default());
            let (unmarked, word, import) = named.import();
            around.extend(unmarked);
            imported.extend(
                word.into_iter().filter(|word| words.insert(word.to_string())).map(|word| quote!(#(#attrs)* #word)),
            );
            imported.extend(quote!(#(#attrs)* #import));
            named.ty()
        };
        number += 1;
        let item_of = Extent::of(path).member(&ty, quote!(__rj::ListedAs<__rejoinder::#item>), "item");
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

/// Whether a word may also mean a crate, a type of the language or the module of its file. Then a `use` is ambiguous, and a
/// path is not.
fn may_mean_more(word: &Ident) -> bool {
    const OF_THE_LANGUAGE: [&str; 8] = ["alloc", "bool", "char", "core", "proc_macro", "std", "str", "test"];
    // The compiler is called with `--extern name=path` for each crate. Another program may run the macro without them.
    let arguments: Vec<String> = env::args().collect();
    let after = arguments.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| &*pair[1]);
    let crates = after.chain(arguments.iter().filter_map(|argument| argument.strip_prefix("--extern=")));
    let crates: Vec<_> = crates.filter_map(|named| named.split('=').next()?.rsplit(':').next()).collect();
    if crates.is_empty() {
        return true;
    }
    let (file, word) = (word.span().unwrap().local_file().unwrap_or_default().with_extension(""), names::wire(word));
    crates.contains(&&*word) || OF_THE_LANGUAGE.contains(&&*word) || file.iter().any(|part| part == &*word)
}
