//! The constraints of arguments and of fields of forms, which have the same words: checked as far as they are literals, and
//! written as calls of the methods that set them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use regex_lite::Regex;
use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

use crate::{errors::Errors, names, options::Options};

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

/// Those that come in pairs.
const BOUNDS: [[&str; 2]; 4] =
    [["min_length", "max_length"], ["min", "max"], ["min_items", "max_items"], ["exclusive_min", "exclusive_max"]];

/// The formats, and the variants of `Format`.
const FORMATS: [&str; 8] = ["email", "uri", "date", "date-time", "uuid", "ip", "ipv4", "ipv6"];
const VARIANTS: [&str; 8] = ["Email", "Uri", "Date", "DateTime", "Uuid", "Ip", "Ipv4", "Ipv6"];

/// What is called to set the constraints among these options, after what literals tell was checked, also about the default.
pub(crate) fn constraints(default: Option<&Expr>, options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut calls = TokenStream::new();
    if let Some((option, value)) = options.entry("title", "\"..\"", errors) {
        check_string("title", &value, errors);
        calls.extend(call(&option, value));
    }
    if let Some((option, value)) = options.entry("example", "..", errors) {
        calls.extend(call(&option, value));
    }
    if let Some((option, value)) = options.entry("format", "\"email\"", errors) {
        calls.extend(call(&option, format(&value, errors)));
    }
    if let Some((option, value)) = options.entry("pattern", "\"^[a-z]+$\"", errors) {
        check_pattern(&value, default, errors);
        calls.extend(call(&option, value));
    }
    for [min, max] in BOUNDS {
        let bounds = [min, max].map(|name| options.entry(name, "3", errors));
        for (option, value) in bounds.iter().flatten() {
            if min == "min_length" || min == "min_items" {
                check_count(&option.to_string(), value, errors);
            }
            calls.extend(call(option, value));
        }
        let measured = default.and_then(|value| match (min, value) {
            ("min_length", value) => string_literal(value).map(|text| text.chars().count() as f64),
            ("min_items", Expr::Array(array)) => Some(array.elems.len() as f64),
            ("min_items", _) => None,
            (_, value) => number(value),
        });
        let is_exclusive = min == "exclusive_min";
        check_bounds(bounds.each_ref().map(Option::as_ref), is_exclusive, default.zip(measured), errors);
    }
    if let Some((option, value)) = options.entry("multiple_of", "3", errors) {
        check_unit(&value, default, errors);
        calls.extend(call(&option, value));
    }
    if let Some(unique) = options.flag("unique_items", errors).filter(|unique| unique.value) {
        calls.extend(call(&Ident::new("unique_items", unique.span), TokenStream::new()));
    }
    calls
}

fn format(value: &Expr, errors: &mut Errors) -> TokenStream {
    let written = string_literal(value).unwrap_or_default();
    let Some(index) = FORMATS.iter().position(|name| *name == written) else {
        errors.at(value, format!("unknown format; {}", use_one_of(&written, &FORMATS)));
        return TokenStream::new();
    };
    let variant = Ident::new(VARIANTS[index], Span::call_site());
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
fn check_bounds(
    bounds: [Option<&(Ident, Expr)>; 2],
    is_exclusive: bool,
    default: Option<(&Expr, f64)>,
    errors: &mut Errors,
) {
    let [min, max] = bounds.map(|bound| bound.and_then(|(option, value)| Some((option, number(value)?))));
    let is_below = |value: f64, bound: f64| value < bound || (is_exclusive && value == bound);
    let [crossed, low, high] = if is_exclusive {
        ["must be more than", "not more than", "not less than"]
    } else {
        ["is less than", "less than", "more than"]
    };
    if let (Some((min, least)), Some((max, greatest))) = (min, max)
        && is_below(greatest, least)
    {
        return errors.at(max, format!("`{max}` {crossed} `{min}`"));
    }
    let Some((default, measured)) = default else { return };
    if let Some((min, _)) = min.filter(|(_, least)| is_below(measured, *least)) {
        errors.at(default, format!("the default is {low} `{min}`"));
    }
    if let Some((max, _)) = max.filter(|(_, greatest)| is_below(*greatest, measured)) {
        errors.at(default, format!("the default is {high} `{max}`"));
    }
}

/// Checks the unit of `multiple_of`, and the default against it, as far as they are whole numbers.
fn check_unit(unit: &Expr, default: Option<&Expr>, errors: &mut Errors) {
    let Some(value) = number(unit) else { return };
    if value <= 0.0 {
        return errors.at(unit, "`multiple_of` must be more than 0");
    }
    if let Some(default) = default
        && number(default).is_some_and(|default| value.fract() == 0.0 && default % value != 0.0)
    {
        errors.at(default, "the default is not a multiple of `multiple_of`");
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

/// The call that sets an option, where the option is written.
pub(crate) fn call(option: &Ident, value: impl ToTokens) -> TokenStream {
    // A macro's span, as the field's: between spans of two kinds the compiler would show the whole macro.
    let option = Ident::new(&option.to_string(), Span::call_site().located_at(option.span()));
    quote_spanned!(option.span()=> .#option(#value))
}

/// Refuses a literal that is not a string.
pub(crate) fn check_string(option: &str, value: &Expr, errors: &mut Errors) {
    if let Expr::Lit(ExprLit { lit, .. }) = value
        && !matches!(lit, Lit::Str(_))
    {
        errors.at(lit, format!("`{option}` must be a string: `{option} = \"..\"`"));
    }
}

/// The string, if the expression is a string literal.
fn string_literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// `did you mean "email"? use one of "email", "uri"`.
pub(crate) fn use_one_of(written: &str, known: &[&'static str]) -> String {
    let similar = names::similar(written, known).map(|similar| format!("did you mean `{similar}`? "));
    format!("{}use one of `{}`", similar.unwrap_or_default(), known.join("`, `"))
}
