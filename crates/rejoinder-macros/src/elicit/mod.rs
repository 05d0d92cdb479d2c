//! The derive macros of forms: `Elicit` for the form, `ElicitEnum` for a choice in it.

mod choice;
mod field;
mod form;

pub(crate) use choice::choice;
pub(crate) use form::form;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, DeriveInput, Expr, ExprLit, GenericParam, Generics, Lit, LitStr, Meta, MetaNameValue, Token,
    punctuated::Punctuated,
};

use crate::{errors::Errors, names, options::Options};

/// Writes the implementation, or the errors. `known` are the options of the whole, which is a form or a choice.
fn derive(
    item: TokenStream,
    what: &str,
    known: &[&'static str],
    implement: impl FnOnce(&DeriveInput, &mut Options, &mut Errors) -> Option<TokenStream>,
) -> TokenStream {
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let mut options =
        elicit_options(&format!("`#[elicit]` on {what}"), &item.attrs, &[known, &["crate"]].concat(), &mut errors);
    let (implementation, rejoinder) = (implement(&item, &mut options, &mut errors), options.rejoinder(&mut errors));
    options.finish(&mut errors);
    let imports = names::imports(&rejoinder);
    let implementation = quote! {
        #[allow(deprecated, reason = "the type, or a part of it, may be deprecated")]
        const _: () = {
            #imports
            #implementation
        };
    };
    errors.or(&TokenStream::new(), implementation)
}

/// The options of every `#[elicit(..)]` among these attributes.
fn elicit_options(attribute: &str, attrs: &[Attribute], known: &[&'static str], errors: &mut Errors) -> Options {
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
    Options::parse(attribute, known, all, errors)
}

/// The text of an option of `#[serde(..)]`, so that a name is written once for both.
fn serde_option(attrs: &[Attribute], option: &str, errors: &mut Errors) -> Option<LitStr> {
    let serde = attrs.iter().filter(|attr| attr.path().is_ident("serde"));
    // What cannot be read is for serde to report.
    let metas = serde.filter_map(|attr| attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok());
    match metas.flatten().find(|meta| meta.path().is_ident(option))? {
        Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. }) => Some(text),
        other => {
            errors.at(other, format!("a form has one name for reading and writing: write `{option} = \"..\"`"));
            None
        }
    }
}

/// Refuses type parameters and lifetimes.
fn check_generics(generics: &Generics, what: &str, errors: &mut Errors) {
    match generics.params.first() {
        None => {}
        Some(first @ GenericParam::Lifetime(_)) => {
            errors.at(first, format!("{what} cannot borrow: use owned types such as `String`"));
        }
        Some(first) => errors.at(first, format!("{what} cannot be generic: write one for each type")),
    }
}

/// Refuses two fields, or variants, with one name in the answer.
fn check_names<'a>(all: impl Iterator<Item = (&'a Ident, &'a str)>, what: &str, errors: &mut Errors) {
    let mut seen: Vec<(&Ident, &str)> = Vec::new();
    for (ident, name) in all {
        if let Some((other, _)) = seen.iter().find(|(_, other)| *other == name) {
            errors.at(ident, format!("this {what} has the name `{name}` in the answer, which `{other}` already has"));
        }
        seen.push((ident, name));
    }
}
