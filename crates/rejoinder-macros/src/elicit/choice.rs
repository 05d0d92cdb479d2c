//! `#[derive(ElicitEnum)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Fields, Variant};

use super::{check_generics, check_names, derive, elicit_options, serde_option};
use crate::{
    constraints::{check_string, use_one_of},
    docs,
    errors::Errors,
    names,
    options::option,
};

struct ChoiceVariant {
    ident: Ident,
    value: String,
    /// The expression of an `Option`.
    title: TokenStream,
}

/// Implements `ElicitEnum`.
pub(crate) fn choice(item: TokenStream) -> TokenStream {
    derive(item, "a choice", &["rename_all", "legacy_names"], |item, options, errors| {
        let case = options.literal("rename_all", errors).or_else(|| serde_option(&item.attrs, "rename_all", errors));
        let legacy = options.flag("legacy_names", errors).is_some_and(|flag| flag.value);
        if let Some(case) = case.as_ref().filter(|case| !CASES.contains(&&*case.value())) {
            let written = case.value();
            errors.at(case, format!("`rename_all` has no case `{written}`; {}", use_one_of(&written, &CASES)));
        }
        let case = case.map_or_else(String::new, |case| case.value());
        Some(implementation(&item.ident, &read(item, &case, errors)?, legacy))
    })
}

fn read(item: &DeriveInput, case: &str, errors: &mut Errors) -> Option<Vec<ChoiceVariant>> {
    let Data::Enum(data) = &item.data else {
        errors.at(&item.ident, "a choice must be an enum; for a form, derive `Elicit`");
        return None;
    };
    check_generics(&item.generics, "a choice", errors);
    if data.variants.is_empty() {
        errors.at(&item.ident, "a choice needs at least one variant");
    }
    let variants: Vec<_> = data.variants.iter().map(|variant| read_variant(variant, case, errors)).collect();
    check_names(variants.iter().map(|variant| (&variant.ident, variant.value.as_str())), "choice", errors);
    Some(variants)
}

fn read_variant(variant: &Variant, case: &str, errors: &mut Errors) -> ChoiceVariant {
    if !matches!(variant.fields, Fields::Unit) {
        errors.at(&variant.fields, "a variant of a choice cannot have data: use another field of the form");
    }
    let mut options = elicit_options("`#[elicit]`", &variant.attrs, &["title", "name"], errors);
    let name = options.literal("name", errors).or_else(|| serde_option(&variant.attrs, "rename", errors));
    let title = options.expression("title", "\"..\"", errors);
    options.finish(errors);
    if let Some(title) = &title {
        check_string("title", title, errors);
    }
    ChoiceVariant {
        value: name.map_or_else(|| rename(&names::wire(&variant.ident), case), |name| name.value()),
        // MCP has one text for a choice. Without a title, that is the doc comment.
        title: option(title.map(|title| title.to_token_stream()).or_else(|| docs::description(&variant.attrs))),
        ident: variant.ident.clone(),
    }
}

fn implementation(ident: &Ident, variants: &[ChoiceVariant], legacy: bool) -> TokenStream {
    let idents: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let values: Vec<_> = variants.iter().map(|variant| &variant.value).collect();
    let titles = variants.iter().map(|variant| &variant.title);
    let value = names::local("value");
    quote! {
        #[automatically_derived]
        impl __rejoinder::ElicitEnum for #ident {
            const CHOICES: &'static [(&'static ::std::primitive::str, ::std::option::Option<&'static ::std::primitive::str>)] =
                &[#((#values, #titles)),*];
            const LEGACY_NAMES: ::std::primitive::bool = #legacy;

            fn from_value(#value: &::std::primitive::str) -> ::std::option::Option<Self> {
                match #value {
                    #(#values => ::std::option::Option::Some(Self::#idents),)*
                    _ => ::std::option::Option::None,
                }
            }

            fn value(&self) -> &'static ::std::primitive::str {
                match self {
                    #(Self::#idents => #values,)*
                }
            }
        }
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
fn rename(name: &str, case: &str) -> String {
    let words = |separator: char| {
        let mut words = String::new();
        for (index, c) in name.char_indices() {
            if index > 0 && c.is_uppercase() {
                words.push(separator);
            }
            words.push(c);
        }
        words
    };
    match case {
        "lowercase" => name.to_lowercase(),
        "UPPERCASE" => name.to_uppercase(),
        "camelCase" => {
            let mut rest = name.chars();
            rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
        }
        "snake_case" => words('_').to_lowercase(),
        "SCREAMING_SNAKE_CASE" => words('_').to_uppercase(),
        "kebab-case" => words('-').to_lowercase(),
        "SCREAMING-KEBAB-CASE" => words('-').to_uppercase(),
        _ => name.to_owned(),
    }
}

/// The name of a field in a case, as serde writes it.
pub(super) fn rename_field(name: &str, case: &str) -> String {
    let pascal = || {
        let words = name.split('_').filter(|word| !word.is_empty());
        words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect::<String>()
    };
    match case {
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => name.to_ascii_uppercase(),
        "PascalCase" => pascal(),
        "camelCase" => rename(&pascal(), case),
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
        let renamed = CASES.map(|case| rename("VeryTasty2", case));
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
        let renamed = CASES.map(|case| rename_field("line_2_text", case));
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
