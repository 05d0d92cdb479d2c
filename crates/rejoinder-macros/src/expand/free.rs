use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::FnArg;

use super::twin::Twin;
use crate::{errors::Errors, function::Function, kind::Kind, signature::Place};

/// `#[tool]`, `#[prompt]` or `#[resource]` on a free function.
pub(crate) fn function(kind: Kind, options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Ok(mut function) = syn::parse2::<Function>(item.clone()) else {
        let first: Option<TokenTree> = item.clone().into_iter().next();
        errors.at(first, format!("`#[{}]` goes on a function", kind.word()));
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    };
    let is_method = matches!(function.signature.inputs.first(), Some(FnArg::Receiver(_)));
    let Function { attrs, vis, signature, .. } = &mut function;
    let twin = Twin::read(kind, &Place::Free, options, attrs, vis, signature, &mut errors);
    // Among the items of an `impl` block no type can be declared, and the error is about that.
    let twin = if is_method { TokenStream::new() } else { twin.expand(errors.is_empty()) };
    let errors = errors.into_tokens();
    quote!(#function #twin #errors)
}
