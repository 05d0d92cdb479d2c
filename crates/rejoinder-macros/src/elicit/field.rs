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
    /// The default, which is the last thing said of it.
    default: Option<Expr>,
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
        let default = options.entry("default", "..", errors).map(|(_, value)| value);
        let calls = calls(field, default.as_ref(), &mut options, errors);
        options.finish(errors);
        Some(Self { ident, ty: field.ty.clone(), name, calls, default })
    }

    /// The expression of its `Field`, in which a type that cannot be a field is one error.
    pub(super) fn expression(&self) -> TokenStream {
        let Self { ty, name, calls, default, .. } = self;
        let at = Span::call_site().located_at(ty.span());
        match default {
            None => {
                let new = quote_spanned!(at=> __rj::field::<#ty>);
                quote!(#new(#name) #calls)
            }
            // `default` needs the bound too. The compiler tells one error for both if both are at one place, and the
            // only place that a token can have is that of another token: the type's first.
            Some(default) => {
                let alias = Ident::new("__RjField", at);
                let method = Ident::new("default", at);
                let value = default_value(default);
                quote!({
                    type #alias = #ty;
                    __rj::field::<#alias>(#name) #calls.#method(#value)
                })
            }
        }
    }
}

fn calls(field: &syn::Field, default: Option<&Expr>, options: &mut Options, errors: &mut Errors) -> TokenStream {
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
    if let Some((option, value)) = options.entry("pattern", "\"^[a-z]+$\"", errors) {
        limits::check_pattern(&value, default, errors);
        call(&option, &value);
    }
    let number = default.and_then(|value| Some((value, limits::number(value)?)));
    let length = default.and_then(|value| Some((value, limits::text_of(value)?.chars().count() as f64)));
    let items = default.and_then(|value| match value {
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
            errors.at(ident, format!("this {what} goes by `{name}` in the answer, as `{other}` does already"));
        }
        seen.push((ident, name));
    }
}
