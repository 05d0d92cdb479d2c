use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Generics, Meta};

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
                errors.at(other, format!("write `#[elicit({} = ..)]`", known.first().copied().unwrap_or_default()))
            }
        }
    }
    Options::parse("`#[elicit]`", known, all, errors)
}

/// Refuses parameters of the type.
pub(super) fn check_generics(generics: &Generics, what: &str, errors: &mut Errors) {
    if !generics.params.is_empty() {
        errors.at(&generics.params, format!("{what} has no parameters: its schema is one, and known when it compiles"));
    }
}

/// The expression of a doc comment or a text option is a text.
pub(super) fn text(name: &str, expression: &syn::Expr, errors: &mut Errors) {
    if let syn::Expr::Lit(syn::ExprLit { lit, .. }) = expression
        && !matches!(lit, syn::Lit::Str(_))
    {
        errors.at(lit, format!("`{name}` is a text: `{name} = \"..\"`"));
    }
}
