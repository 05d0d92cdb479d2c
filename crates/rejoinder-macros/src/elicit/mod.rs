//! The derive macros of forms: `Elicit` for the form, `ElicitEnum` for a choice in it.

mod choice;
mod form;

pub(crate) use choice::choice;
pub(crate) use form::form;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{
    Attribute, DeriveInput, Expr, ExprLit, Lit, LitStr, Meta, MetaNameValue, Token, parse::Parser,
    punctuated::Punctuated,
};

use crate::{
    errors::Errors,
    names::{self, pascal},
    options::{Options, tokens_of},
};

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
    if item.generics.lifetimes().next().is_some() {
        errors.at(&item.generics, format!("{what} cannot borrow: remove the lifetime, and write `String` for `&str`"));
    } else if !item.generics.params.is_empty() {
        errors.at(&item.generics, format!("{what} cannot be generic: write one for each type"));
    }
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
    let example = format!("#[elicit({} = ..)]", known.first().copied().unwrap_or_default());
    let mut all = TokenStream::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("arg")) {
        errors.at(attr, "a field of a form has `#[elicit(..)]`, with the constraints of `#[arg(..)]`");
    }
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("elicit")) {
        let tokens = tokens_of(attr, &example, errors);
        let metas = errors.check(Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens));
        all.extend(metas.into_iter().flatten().map(|meta| quote!(#meta,)));
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

/// The cases of serde.
const CASES: [&str; 8] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// The name of a variant in a case, as serde writes it.
fn variant_name(name: &str, case: &str) -> String {
    let is_inner = |index: usize, c: char| index > 0 && c.is_uppercase();
    let snake = name.char_indices().flat_map(|(index, c)| is_inner(index, c).then_some('_').into_iter().chain([c]));
    match case {
        "lowercase" => name.to_lowercase(),
        "UPPERCASE" => name.to_uppercase(),
        "camelCase" => {
            let mut rest = name.chars();
            rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
        }
        "" | "PascalCase" => name.to_owned(),
        _ => field_name(&snake.collect::<String>().to_lowercase(), case),
    }
}

/// The name of a field in a case, as serde writes it.
fn field_name(name: &str, case: &str) -> String {
    match case {
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => name.to_ascii_uppercase(),
        "PascalCase" => pascal(name),
        "camelCase" => variant_name(&pascal(name), case),
        "kebab-case" => name.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => name.to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_renamed_as_serde_does() {
        let renamed = CASES.map(|case| variant_name("VeryTasty2", case));
        let expected = [
            "verytasty2",
            "VERYTASTY2",
            "VeryTasty2",
            "veryTasty2",
            "very_tasty2",
            "VERY_TASTY2",
            "very-tasty2",
            "VERY-TASTY2",
        ];
        assert_eq!(renamed, expected);
    }

    #[test]
    fn fields_are_renamed_as_serde_does() {
        let renamed = CASES.map(|case| field_name("line_2_text", case));
        let expected = [
            "line_2_text",
            "LINE_2_TEXT",
            "Line2Text",
            "line2Text",
            "line_2_text",
            "LINE_2_TEXT",
            "line-2-text",
            "LINE-2-TEXT",
        ];
        assert_eq!(renamed, expected);
    }
}
