//! One field of a form: what the author wrote about it, checked as far as it is literals, and the expression of its `Field`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use regex_lite::Regex;
use syn::{Expr, ExprLit, ExprUnary, Lit, Type, UnOp, spanned::Spanned};

use super::{check_string, choice::rename_field, elicit_options, serde_option, string_literal, use_one_of};
use crate::{docs, errors::Errors, names, options::Options};

const OPTIONS: [&str; 12] = [
    "title",
    "description",
    "default",
    "name",
    "format",
    "pattern",
    "min_length",
    "max_length",
    "min",
    "max",
    "min_items",
    "max_items",
];
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];
const FORMAT_VARIANTS: [&str; 4] = ["Email", "Uri", "Date", "DateTime"];

/// One field.
pub(super) struct FormField {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    /// The name in the answer.
    pub(super) name: String,
    /// What is called on the `Field`: `.title("..").min(1)`.
    calls: TokenStream,
}

impl FormField {
    /// Reads a field.
    pub(super) fn read(field: &syn::Field, case: &str, errors: &mut Errors) -> Option<Self> {
        let ident = field.ident.clone()?;
        let mut options = elicit_options(&field.attrs, &OPTIONS, errors);
        let name = options.literal("name", errors).or_else(|| serde_option(&field.attrs, "rename", errors));
        if let Some(name) = name.as_ref().filter(|name| name.value().is_empty()) {
            errors.at(name, "the name of a field cannot be empty");
        }
        let name = name.map_or_else(|| rename_field(&names::wire(&ident), case), |name| name.value());
        let mut calls = texts(field, &mut options, errors);
        let default = options.entry("default", "..", errors);
        calls.extend(rules(default.as_ref().map(|(_, value)| value), &mut options, errors));
        if let Some((option, value)) = default {
            // A list is written as an array, and is a `Vec`.
            let value =
                if matches!(value, Expr::Array(_)) { quote!(__rj::prelude::Vec::from(#value)) } else { quote!(#value) };
            calls.extend(call(&option, value));
        }
        options.finish(errors);
        Some(Self { ident, ty: field.ty.clone(), name, calls })
    }

    /// The expression of the `Field`, with the spans of the type, where the compiler then reports that it cannot be a field.
    pub(super) fn expression(&self) -> TokenStream {
        let Self { ty, name, calls, .. } = self;
        let last = ty.to_token_stream().into_iter().last();
        let end = last.map_or_else(Span::call_site, |last| match last {
            TokenTree::Group(group) => group.span_close(),
            other => other.span(),
        });
        // Located at the type, but still a macro's: lints for hand-written paths do not apply.
        let [start, end] = [ty.span(), end].map(|span| Span::call_site().located_at(span));
        let path = quote_spanned!(start=> __rejoinder::form::Field::<#ty>::);
        let field = quote_spanned!(end=> #path new(#name));
        quote!(#field #calls)
    }
}

/// The call that sets an option, where the option is written.
fn call(option: &Ident, value: impl ToTokens) -> TokenStream {
    // A macro's span, as the field's: between spans of two kinds the compiler would show the whole macro.
    let option = Ident::new(&option.to_string(), Span::call_site().located_at(option.span()));
    quote_spanned!(option.span()=> .#option(#value))
}

fn texts(field: &syn::Field, options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut calls = TokenStream::new();
    for name in ["title", "description"] {
        if let Some((option, value)) = options.entry(name, "\"..\"", errors) {
            check_string(name, &value, errors);
            calls.extend(call(&option, value));
        } else if name == "description"
            && let Some(text) = docs::description(&field.attrs)
        {
            calls.extend(call(&Ident::new(name, Span::call_site()), text));
        }
    }
    calls
}

fn rules(default: Option<&Expr>, options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut calls = TokenStream::new();
    if let Some((option, value)) = options.entry("format", "\"email\"", errors) {
        calls.extend(call(&option, format(&value, errors)));
    }
    if let Some((option, value)) = options.entry("pattern", "\"^[a-z]+$\"", errors) {
        check_pattern(&value, default, errors);
        calls.extend(call(&option, value));
    }
    for [min, max] in [["min_length", "max_length"], ["min", "max"], ["min_items", "max_items"]] {
        let bounds = [min, max].map(|name| options.entry(name, "3", errors));
        for (option, value) in bounds.iter().flatten() {
            if min != "min" {
                check_count(&option.to_string(), value, errors);
            }
            calls.extend(call(option, value));
        }
        let measured = default.and_then(|value| match (min, value) {
            ("min", value) => number(value),
            ("min_length", value) => string_literal(value).map(|text| text.chars().count() as f64),
            (_, Expr::Array(array)) => Some(array.elems.len() as f64),
            _ => None,
        });
        check_bounds(bounds.each_ref().map(Option::as_ref), default.zip(measured), errors);
    }
    calls
}

fn format(value: &Expr, errors: &mut Errors) -> TokenStream {
    let written = string_literal(value).unwrap_or_default();
    let Some(index) = FORMATS.iter().position(|name| *name == written) else {
        errors.at(value, format!("unknown format; {}", use_one_of(&written, &FORMATS)));
        return TokenStream::new();
    };
    let variant = Ident::new(FORMAT_VARIANTS[index], Span::call_site());
    quote!(__rejoinder::form::Format::#variant)
}

/// Checks a pattern, and the default against it.
fn check_pattern(pattern: &Expr, default: Option<&Expr>, errors: &mut Errors) {
    let Some(text) = string_literal(pattern) else {
        return errors.at(pattern, "`pattern` must be a string literal: `pattern = \"..\"`");
    };
    match Regex::new(&text) {
        Err(error) => errors.at(pattern, format!("`pattern` is not a regular expression: {error}")),
        Ok(regex) => {
            if let Some(default) = default
                && string_literal(default).is_some_and(|text| !regex.is_match(&text))
            {
                errors.at(default, "the default does not match `pattern`");
            }
        }
    }
}

/// Refuses a literal that is not a whole number.
fn check_count(option: &str, value: &Expr, errors: &mut Errors) {
    let is_whole = match value {
        Expr::Lit(ExprLit { lit, .. }) => matches!(lit, Lit::Int(_)),
        other => !matches!(other, Expr::Unary(_)),
    };
    if !is_whole {
        errors.at(value, format!("`{option}` must be a whole number: `{option} = 3`"));
    }
}

/// Checks that the bounds are in order, and the default, as it is measured, between them.
fn check_bounds([min, max]: [Option<&(Ident, Expr)>; 2], default: Option<(&Expr, f64)>, errors: &mut Errors) {
    let least = min.and_then(|(option, value)| Some((option, number(value)?)));
    let greatest = max.and_then(|(option, value)| Some((option, number(value)?)));
    if let (Some((min, least)), Some((max, greatest))) = (least, greatest)
        && least > greatest
    {
        return errors.at(max, format!("`{max}` is less than `{min}`"));
    }
    let Some((default, measured)) = default else { return };
    if let Some((min, _)) = least.filter(|(_, least)| measured < *least) {
        errors.at(default, format!("the default is less than `{min}`"));
    }
    if let Some((max, _)) = greatest.filter(|(_, greatest)| measured > *greatest) {
        errors.at(default, format!("the default is more than `{max}`"));
    }
}

/// The number, if the expression is a number literal.
fn number(value: &Expr) -> Option<f64> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        _ => None,
    }
}
