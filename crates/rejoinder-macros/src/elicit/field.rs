//! One field of a form: what the author wrote about it, and the expression of its `Field`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, Type};

use super::{attribute, limits};
use crate::{docs, errors::Errors, expand::Extent, names, options::Options};

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

/// What the type of a field is called in its expression: a type is written out as rarely as possible.
const ALIAS: &str = "__RjField";

/// One field.
pub(super) struct Field {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    /// The name in the answer.
    pub(super) name: String,
    /// What is said of it, in order.
    said: Vec<Said>,
    default: Option<Expr>,
}

/// One thing that is said of a field.
struct Said {
    /// The option, where it is written.
    option: Ident,
    value: TokenStream,
}

impl Said {
    /// The trait of the types that have it, if not all do.
    fn of_some(&self) -> Option<Ident> {
        let name = match &*self.option.to_string() {
            "format" | "pattern" | "min_length" | "max_length" => "TextField",
            "min_items" | "max_items" => "ChoicesField",
            _ => return None,
        };
        Some(Ident::new(name, Span::call_site()))
    }

    /// The field that this is said of as well.
    ///
    /// What only some types have is asked of the type where the option is, so that it is the option that does not fit.
    fn of(&self, field: &TokenStream) -> TokenStream {
        let Self { option, value } = self;
        let Some(of) = self.of_some() else { return quote!(#field.#option(#value)) };
        let (alias, function) = (Ident::new(ALIAS, option.span()), format_ident!("__{option}"));
        quote!(<#alias as __rj::#of>::#function(#field, #value))
    }
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
        let said = said(field, default.as_ref(), &mut options, errors);
        options.finish(errors);
        Some(Self { ident, ty: field.ty.clone(), name, said, default })
    }

    /// The expression of its `Field`, in which a type that cannot be a field is one error.
    pub(super) fn expression(&self) -> TokenStream {
        let Self { ty, name, said, default, .. } = self;
        let (extent, derived) = (Extent::of(ty), quote!(__rj::DerivedField));
        let function = extent.member(ty, &derived, if default.is_some() { "field_with_default" } else { "field" });
        let default = default.as_ref().map(default_value);
        // All of the call stands where the type does: what is no field has no default either, which is told of the call.
        let field = quote_spanned!(extent.end=> #function(#name, #default));
        let field = said.iter().fold(field, |field, said| said.of(&field));
        if said.iter().all(|said| said.of_some().is_none()) {
            return field;
        }
        let alias = Ident::new(ALIAS, Span::call_site());
        quote!({
            type #alias = #ty;
            #field
        })
    }
}

fn said(field: &syn::Field, default: Option<&Expr>, options: &mut Options, errors: &mut Errors) -> Vec<Said> {
    let mut said = Vec::new();
    let mut say = |option: &Ident, value: &dyn ToTokens| {
        said.push(Said { option: option.clone(), value: value.to_token_stream() });
    };
    for name in ["title", "description"] {
        match options.entry(name, "\"..\"", errors) {
            Some((option, value)) => {
                attribute::text(name, &value, errors);
                say(&option, &value);
            }
            None if name == "description" => {
                if let Some(text) = docs::description(&field.attrs) {
                    say(&Ident::new(name, Span::call_site()), &text);
                }
            }
            None => {}
        }
    }
    if let Some((option, value)) = options.entry("format", "\"email\"", errors)
        && let Some(format) = format(&value, errors)
    {
        say(&option, &format);
    }
    if let Some((option, value)) = options.entry("pattern", "\"^[a-z]+$\"", errors) {
        limits::check_pattern(&value, default, errors);
        say(&option, &value);
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
            say(option, value);
        }
        limits::check(bounds, given.each_ref().map(|given| given.as_ref().map(|(_, value)| value)), measured, errors);
    }
    said
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
