use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, FnArg};

use super::twin::Twin;
use crate::{errors::Errors, function::Function, kind::Kind, signature::Place};

/// Refuses a second attribute of ours on one function, and takes it off: it would write the hidden type once more.
pub(super) fn one_attribute(attrs: &mut Vec<Attribute>, errors: &mut Errors) {
    attrs.retain(|attr| {
        let is_ours = Kind::of_attribute(attr.path()).is_some();
        if is_ours {
            errors.at(attr, TWO_KINDS);
        }
        !is_ours
    });
}

/// What is told of a function with two attributes of ours.
pub(super) const TWO_KINDS: &str =
    "a function is one of tool, prompt, resource and resolver: remove one of the attributes";

/// `#[tool]`, `#[prompt]` or `#[resource]` on a free function.
pub(crate) fn function(kind: Kind, options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Ok(mut function) = syn::parse2::<Function>(item.clone()) else {
        let first: Option<TokenTree> = item.clone().into_iter().next();
        errors.at(first, format!("`#[{}]` goes on a function", kind.word()));
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    };
    one_attribute(&mut function.attrs, &mut errors);
    let is_method = matches!(function.signature.inputs.first(), Some(FnArg::Receiver(_)));
    let Function { attrs, vis, signature, .. } = &mut function;
    let twin = Twin::read(kind, &Place::Free, options, attrs, vis, signature, &mut errors);
    // Among the items of an `impl` block no type can be declared, and the error is about that.
    let twin = if is_method { TokenStream::new() } else { twin.expand(errors.is_empty()) };
    let errors = errors.into_tokens();
    quote!(#function #twin #errors)
}
