use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, GenericParam, Generics, Meta};

use crate::{errors::Errors, options::Options};

/// The options of every `#[elicit(..)]` among these attributes.
pub(super) fn options(attrs: &[Attribute], known: &'static [&'static str], errors: &mut Errors) -> Options {
    let mut all = TokenStream::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("elicit")) {
        match &attr.meta {
            Meta::List(list) => {
                let ends = list.tokens.clone().into_iter().last().is_none_or(|last| last.to_string() == ",");
                let comma = (!ends).then(|| quote!(,));
                all.extend([list.tokens.clone(), comma.to_token_stream()]);
            }
            other => {
                let example = known.first().copied().unwrap_or_default();
                errors.at(other, format!("write `#[elicit({example} = ..)]`"));
            }
        }
    }
    Options::parse("`#[elicit]`", known, all, errors)
}

/// Refuses parameters of the type.
pub(super) fn check_generics(generics: &Generics, what: &str, errors: &mut Errors) {
    match generics.params.first() {
        None => {}
        Some(first @ GenericParam::Lifetime(_)) => errors.at(first, format!("{what} borrows nothing: own the values")),
        Some(first) => errors.at(first, format!("{what} cannot be generic: write one for each type")),
    }
}

/// Refuses what is plainly not a text.
pub(super) fn text(name: &str, expression: &syn::Expr, errors: &mut Errors) {
    if let syn::Expr::Lit(syn::ExprLit { lit, .. }) = expression
        && !matches!(lit, syn::Lit::Str(_))
    {
        errors.at(lit, format!("`{name}` is a text: `{name} = \"..\"`"));
    }
}
