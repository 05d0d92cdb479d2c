//! One field of a form: what the author wrote about it, checked as far as it is literals, and the expression of its `Field`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Type};

use super::{choice::rename_field, elicit_options, serde_option};
use crate::{
    constraints::{CONSTRAINTS, call, check_string, constraints},
    docs,
    errors::{Errors, Extent},
    names,
};

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
        let known = [&["description", "default", "name"], CONSTRAINTS].concat();
        let mut options = elicit_options("`#[elicit]`", &field.attrs, &known, errors);
        let name = options.literal("name", errors).or_else(|| serde_option(&field.attrs, "rename", errors));
        if let Some(name) = name.as_ref().filter(|name| name.value().is_empty()) {
            errors.at(name, "the name of a field cannot be empty");
        }
        let name = name.map_or_else(|| rename_field(&names::wire(&ident), case), |name| name.value());
        let default = options.entry("default", "..", errors);
        let mut calls = constraints(default.as_ref().map(|(_, value)| value), &mut options, errors);
        if let Some((option, value)) = options.entry("description", "\"..\"", errors) {
            check_string("description", &value, errors);
            calls.extend(call(&option, value));
        } else if let Some(text) = docs::description(&field.attrs) {
            calls.extend(call(&Ident::new("description", Span::call_site()), text));
        }
        if let Some((option, value)) = default {
            // A list is written as an array, and is a `Vec`.
            let value =
                if matches!(value, Expr::Array(_)) { quote!(::std::vec::Vec::from(#value)) } else { quote!(#value) };
            calls.extend(call(&option, value));
        }
        options.finish(errors);
        Some(Self { ident, ty: field.ty.clone(), name, calls })
    }

    /// The expression of the `Field`, with the spans of the type, where the compiler then reports that it cannot be a field.
    pub(super) fn expression(&self) -> TokenStream {
        let Self { ty, name, calls, .. } = self;
        let Extent { start, end } = Extent::of(ty);
        // Located at the type, but still a macro's: lints for hand-written paths do not apply.
        let [start, end] = [start, end].map(|span| Span::call_site().located_at(span));
        let path = quote_spanned!(start=> __rejoinder::form::Field::<#ty>::);
        let field = quote_spanned!(end=> #path new(#name));
        quote!(#field #calls)
    }
}
