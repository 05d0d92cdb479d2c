//! `#[derive(Elicit)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Expr, Fields, Index, LitStr, Type};

use super::{check_names, derive, elicit_options, field_name, serde_option};
use crate::{
    constraints::{CONSTRAINTS, call, constraints},
    docs,
    errors::{Errors, Extent},
    names::{self, local},
};

/// Implements `Elicit`.
pub(crate) fn form(item: TokenStream) -> TokenStream {
    derive(item, "a form", &[], |item, _, errors| {
        let fields = read(item, errors)?;
        Some(implementation(item, &fields))
    })
}

fn read(item: &DeriveInput, errors: &mut Errors) -> Option<Vec<FormField>> {
    let ident = &item.ident;
    let case = serde_option(&item.attrs, "rename_all", errors).map(|case| case.value()).unwrap_or_default();
    match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Unit => Some(Vec::new()),
            Fields::Named(fields) => {
                let fields: Vec<_> =
                    fields.named.iter().filter_map(|field| FormField::read(field, &case, errors)).collect();
                check_names(fields.iter().map(|field| (&field.ident, field.name.as_str())), "field", errors);
                Some(fields)
            }
            Fields::Unnamed(fields) => {
                errors.at(fields, format!("the fields of a form need names: `struct {ident} {{ name: .. }}`"));
                None
            }
        },
        Data::Enum(_) | Data::Union(_) => {
            errors.at(ident, "a form must be a struct; for a choice, derive `ElicitEnum` and use it as a field");
            None
        }
    }
}

fn implementation(item: &DeriveInput, fields: &[FormField]) -> TokenStream {
    let ident = &item.ident;
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let expressions = fields.iter().map(FormField::expression);
    let idents: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let indices: Vec<_> = (0..fields.len()).map(Index::from).collect();
    let values: Vec<_> = (0..fields.len()).map(|index| local(&index.to_string())).collect();
    let [content, errors, all] = ["content", "errors", "fields"].map(local);
    let form = local("form");
    quote! {
        type __RjFields = (#(__rejoinder::form::Field<#types>,)*);

        /// Made once: the fields, and the form of them.
        fn __rj_made() -> &'static (__RjFields, __rejoinder::form::Form) {
            static __RJ_MADE: ::std::sync::OnceLock<(__RjFields, __rejoinder::form::Form)> = ::std::sync::OnceLock::new();
            __RJ_MADE.get_or_init(|| {
                let #all = (#(#expressions,)*);
                let #form = __rejoinder::form::Form::new() #(.with(&#all.#indices))*;
                (#all, #form)
            })
        }

        #[automatically_derived]
        impl __rejoinder::Elicit for #ident {
            fn form() -> __rejoinder::form::Form {
                __rj_made().1.clone()
            }

            fn read(
                #content: &__rj::serde_json::Map<::std::string::String, __rj::serde_json::Value>,
            ) -> ::std::result::Result<Self, __rejoinder::form::FormErrors> {
                let (#all, _) = __rj_made();
                let mut #errors = __rejoinder::form::FormErrors::default();
                #(let #values = #all.#indices.read(#content, &mut #errors);)*
                match (#(#values,)*) {
                    (#(::std::option::Option::Some(#values),)*) => ::std::result::Result::Ok(Self { #(#idents: #values),* }),
                    #[allow(unreachable_patterns, reason = "a form may have no fields")]
                    _ => ::std::result::Result::Err(#errors),
                }
            }

            fn write(&self) -> __rj::serde_json::Map<::std::string::String, __rj::serde_json::Value> {
                let (#all, _) = __rj_made();
                let mut #content = __rj::serde_json::Map::new();
                #(#all.#indices.write(&self.#idents, &mut #content);)*
                #content
            }
        }
    }
}

/// One field.
struct FormField {
    ident: Ident,
    ty: Type,
    /// The name in the answer.
    name: String,
    /// What is called on the `Field`: `.title("..").min(1)`.
    calls: TokenStream,
}

impl FormField {
    /// Reads a field.
    fn read(field: &syn::Field, case: &str, errors: &mut Errors) -> Option<Self> {
        let ident = field.ident.clone()?;
        let known = [&["description", "default", "name"], CONSTRAINTS].concat();
        let mut options = elicit_options("`#[elicit]`", &field.attrs, &known, errors);
        let name =
            options.value::<LitStr>("name", "\"..\"", errors).or_else(|| serde_option(&field.attrs, "rename", errors));
        if let Some(name) = name.as_ref().filter(|name| name.value().is_empty()) {
            errors.at(name, "the name of a field cannot be empty");
        }
        let name = name.map_or_else(|| field_name(&names::wire(&ident), case), |name| name.value());
        let default = options.entry("default", "..", errors);
        let mut calls = constraints(&mut options, errors);
        if let Some((option, value)) = options.entry("description", "\"..\"", errors) {
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
    fn expression(&self) -> TokenStream {
        let Self { ty, name, calls, .. } = self;
        let Extent { start, end } = Extent::of(ty);
        // Located at the type, but still a macro's: lints for hand-written paths do not apply.
        let [start, end] = [start, end].map(|span| Span::call_site().located_at(span));
        let path = quote_spanned!(start=> __rejoinder::form::Field::<#ty>::);
        let field = quote_spanned!(end=> #path new(#name));
        quote!(#field #calls)
    }
}
