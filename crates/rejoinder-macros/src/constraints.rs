//! The constraints of arguments and of fields of forms, which have the same words: written as calls of the methods that set
//! them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use regex_lite::Regex;
use syn::Expr;

use crate::{
    docs,
    errors::Errors,
    names::{self, pascal},
    options::{Options, is_set},
};

/// The options that are constraints, and the title and the example beside them.
pub(crate) const CONSTRAINTS: &[&str] = &[
    "title",
    "example",
    "min",
    "max",
    "exclusive_min",
    "exclusive_max",
    "multiple_of",
    "min_length",
    "max_length",
    "pattern",
    "format",
    "min_items",
    "max_items",
    "unique_items",
];

/// The formats. The variants of `Format` have the same names.
const FORMATS: [&str; 8] = ["email", "uri", "date", "date-time", "uuid", "ip", "ipv4", "ipv6"];

/// What is called to set the constraints among these options. The compiler checks their types, and the server the default
/// against them when it is built.
pub(crate) fn constraints(options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut calls = TokenStream::new();
    for name in CONSTRAINTS {
        if *name == "unique_items" {
            let flag = options.flag(name, errors);
            calls.extend(is_set(flag.as_ref()).then(|| quote!(.unique_items())));
            continue;
        }
        let Some((option, value)) = options.entry(name, "..", errors) else { continue };
        match *name {
            "format" => calls.extend(call(&option, format(&value, errors))),
            "pattern" => {
                check_pattern(&value, errors);
                calls.extend(call(&option, value));
            }
            _ => calls.extend(call(&option, value)),
        }
    }
    calls
}

fn format(value: &Expr, errors: &mut Errors) -> TokenStream {
    let written = docs::text(value).unwrap_or_default();
    if !FORMATS.contains(&&*written) {
        errors.at(value, format!("unknown format; {}", use_one_of(&written, &FORMATS)));
        return TokenStream::new();
    }
    let variant = Ident::new(&pascal(&written), Span::call_site());
    quote!(__rejoinder::form::Format::#variant)
}

/// Refuses a literal that is not a regular expression.
fn check_pattern(pattern: &Expr, errors: &mut Errors) {
    if let Some(Err(error)) = docs::text(pattern).map(|text| Regex::new(&text)) {
        errors.at(pattern, format!("`pattern` is not a regular expression: {error}"));
    }
}

/// The call that sets an option, where the option is written.
pub(crate) fn call(option: &Ident, value: impl ToTokens) -> TokenStream {
    // A macro's span, as the field's: between spans of two kinds the compiler would show the whole macro.
    let option = Ident::new(&option.to_string(), Span::call_site().located_at(option.span()));
    quote_spanned!(option.span()=> .#option(#value))
}

/// `did you mean "email"? use one of "email", "uri"`.
pub(crate) fn use_one_of(written: &str, known: &[&'static str]) -> String {
    let similar = names::similar(written, known).map(|similar| format!("did you mean `{similar}`? "));
    format!("{}use one of `{}`", similar.unwrap_or_default(), known.join("`, `"))
}
