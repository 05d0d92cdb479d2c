//! One field of a form: what the author wrote about it, and the expression of its `Field`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Type, spanned::Spanned};

use super::{attribute, limits};
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
const FORMATS: [(&str, &str); 4] = [("email", "Email"), ("uri", "Uri"), ("date", "Date"), ("date-time", "DateTime")];

/// One field.
pub(super) struct Field {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    /// The name in the answer.
    pub(super) name: String,
    /// What is said of it: calls of the methods of `Field`.
    calls: TokenStream,
}

impl Field {
    /// Reads a field.
    pub(super) fn read(field: &syn::Field, errors: &mut Errors) -> Option<Self> {
        let ident = field.ident.clone()?;
        let mut options = attribute::options(&field.attrs, &OPTIONS, errors);
        let given = options.literal("name", errors);
        if let Some(name) = given.as_ref().filter(|name| name.value().is_empty()) {
            errors.at(name, "a field's name cannot be empty");
        }
        let name = given.map_or_else(|| names::wire(&ident), |name| name.value());
        let calls = calls(field, &mut options, errors);
        options.finish(errors);
        Some(Self { ident, ty: field.ty.clone(), name, calls })
    }

    /// The expression of its `Field`. The first call is the only one that fails when the type cannot be a field.
    pub(super) fn expression(&self) -> TokenStream {
        let Self { ty, name, calls, .. } = self;
        let at = Span::call_site().located_at(ty.span());
        let new = quote_spanned!(at=> __rj::field::<#ty>);
        quote!(#new(#name) #calls)
    }
}

fn calls(field: &syn::Field, options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut calls = TokenStream::new();
    // The method stands where the option's name does, so that it is the option that does not fit.
    let mut call = |method: &Ident, value: &dyn ToTokens| {
        let method = Ident::new(&method.to_string(), Span::call_site().located_at(method.span()));
        calls.extend(quote!(.#method(#value)));
    };
    for name in ["title", "description"] {
        match options.entry(name, "\"..\"", errors) {
            Some((option, value)) => {
                attribute::text(name, &value, errors);
                call(&option, &value);
            }
            None if name == "description" => {
                if let Some(text) = docs::description(&field.attrs) {
                    call(&Ident::new(name, Span::call_site()), &text);
                }
            }
            None => {}
        }
    }
    if let Some((option, value)) = options.entry("format", "\"email\"", errors)
        && let Some(format) = format(&value, errors)
    {
        call(&option, &format);
    }
    let default = options.entry("default", "..", errors).map(|(_, value)| value);
    if let Some((option, value)) = options.entry("pattern", "\"^[a-z]+$\"", errors) {
        limits::check_pattern(&value, default.as_ref(), errors);
        call(&option, &value);
    }
    let number = default.as_ref().and_then(|value| Some((value, limits::number(value)?)));
    let length = default.as_ref().and_then(|value| Some((value, limits::text_of(value)?.chars().count() as f64)));
    let items = default.as_ref().and_then(|value| match value {
        Expr::Array(array) => Some((value, array.elems.len() as f64)),
        _ => None,
    });
    for (bounds, measured) in
        [(["min_length", "max_length"], length), (["min", "max"], number), (["min_items", "max_items"], items)]
    {
        let given = bounds.map(|name| options.entry(name, "3", errors));
        for (option, value) in given.iter().flatten() {
            if bounds != ["min", "max"] {
                limits::check_count(&option.to_string(), value, errors);
            }
            call(option, value);
        }
        limits::check(bounds, given.each_ref().map(|given| given.as_ref().map(|(_, value)| value)), measured, errors);
    }
    if let Some(default) = default {
        // Where the type stands, because it fails only for a type that fails there already.
        call(&Ident::new("default", field.ty.span()), &default_value(&default));
    }
    calls
}

/// A list is written as an array, and is a `Vec`.
fn default_value(default: &Expr) -> TokenStream {
    match default {
        Expr::Array(array) => quote!(__rj::Vec::from(#array)),
        other => other.to_token_stream(),
    }
}

fn format(value: &Expr, errors: &mut Errors) -> Option<TokenStream> {
    let known = FORMATS.map(|(name, _)| name);
    let written = limits::text_of(value).unwrap_or_default();
    match FORMATS.iter().find(|(name, _)| *name == written) {
        Some((_, variant)) => {
            let variant = Ident::new(variant, Span::call_site());
            Some(quote!(__rj::Format::#variant))
        }
        None => {
            let meant = names::similar(&written, &known).map(|meant| format!("did you mean `\"{meant}\"`? "));
            let (meant, known) = (meant.unwrap_or_default(), known.join("\"`, `\""));
            errors.at(value, format!("there is no such format; {meant}MCP has `\"{known}\"`"));
            None
        }
    }
}

/// Refuses two fields, or variants, that go by one name in the answer.
pub(super) fn check_names<'a>(all: impl Iterator<Item = (&'a Ident, &'a str)>, what: &str, errors: &mut Errors) {
    let mut seen: Vec<(&Ident, &str)> = Vec::new();
    for (ident, name) in all {
        if let Some((other, _)) = seen.iter().find(|(_, other)| *other == name) {
            errors.at(ident, format!("the {what} `{name}` is there already, as `{other}`"));
        }
        seen.push((ident, name));
    }
}
