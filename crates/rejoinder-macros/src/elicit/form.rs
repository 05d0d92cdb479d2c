//! `#[derive(Elicit)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataStruct, DeriveInput, Fields, Index, parse_quote};

use super::{
    attribute,
    field::{Field, check_names},
};
use crate::{
    errors::Errors,
    names::{self, local},
};

/// Implements `Elicit`; where there were mistakes, in a way that only keeps the rest of the program compiling.
pub(crate) fn form(item: TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let fields = read(&item, &mut errors);
    let private = names::rejoinder();
    let implementation = if errors.is_empty() { implementation(&item, &fields) } else { stub(item) };
    let errors = errors.into_tokens();
    quote! {
        #errors
        #[allow(deprecated, reason = "the form, or one of its fields, may be")]
        const _: () = {
            use #private::__private as __rj;
            #implementation
        };
    }
}

fn read(item: &DeriveInput, errors: &mut Errors) -> Vec<Field> {
    let ident = &item.ident;
    for attr in item.attrs.iter().filter(|attr| attr.path().is_ident("elicit")) {
        errors.at(attr, "on a form, `#[elicit(..)]` goes before a field");
    }
    let fields = match &item.data {
        Data::Struct(DataStruct { fields, .. }) => fields,
        Data::Enum(_) => {
            let message = "a form is a struct: derive `ElicitEnum` for a choice, and make it a field of a form";
            errors.at(ident, message);
            return Vec::new();
        }
        Data::Union(_) => {
            errors.at(ident, "a form is a struct");
            return Vec::new();
        }
    };
    attribute::check_generics(&item.generics, "a form", errors);
    match fields {
        Fields::Unit => Vec::new(),
        Fields::Unnamed(fields) => {
            errors.at(fields, format!("the fields of a form have names: `struct {ident} {{ name: .. }}`"));
            Vec::new()
        }
        Fields::Named(fields) => {
            let fields: Vec<Field> = fields.named.iter().filter_map(|field| Field::read(field, errors)).collect();
            check_names(fields.iter().map(|field| (&field.ident, field.name.as_str())), "field", errors);
            fields
        }
    }
}

fn implementation(item: &DeriveInput, fields: &[Field]) -> TokenStream {
    let ident = &item.ident;
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let expressions = fields.iter().map(Field::expression);
    let idents: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let indices: Vec<_> = (0..fields.len()).map(Index::from).collect();
    let values: Vec<_> = (0..fields.len()).map(|index| local(&index.to_string())).collect();
    let [content, errors, all] = ["content", "errors", "fields"].map(local);
    quote! {
        fn __rj_fields() -> &'static (#(__rj::Field<#types>,)*) {
            static __RJ_FIELDS: __rj::OnceLock<(#(__rj::Field<#types>,)*)> = __rj::OnceLock::new();
            __RJ_FIELDS.get_or_init(|| (#(#expressions,)*))
        }

        #[automatically_derived]
        impl __rj::Elicit for #ident {
            fn form() -> __rj::Form {
                static __RJ_FORM: __rj::OnceLock<__rj::Form> = __rj::OnceLock::new();
                __RJ_FORM
                    .get_or_init(|| {
                        let #all = __rj_fields();
                        __rj::Form::new() #(.with(&#all.#indices))*
                    })
                    .clone()
            }

            fn read(
                #content: &__rj::Map<__rj::String, __rj::Value>,
            ) -> __rj::Result<Self, __rj::FormErrors> {
                let #all = __rj_fields();
                let mut #errors = __rj::FormErrors::default();
                #(let #values = #all.#indices.read(#content, &mut #errors);)*
                match (#(#values,)*) {
                    (#(__rj::Some(#values),)*) => __rj::Ok(Self { #(#idents: #values),* }),
                    #[allow(unreachable_patterns, reason = "there may be no fields")]
                    _ => __rj::Err(#errors),
                }
            }

            fn write(&self) -> __rj::Map<__rj::String, __rj::Value> {
                let #all = __rj_fields();
                let mut #content = __rj::Map::new();
                #(#all.#indices.write(&self.#idents, &mut #content);)*
                #content
            }
        }
    }
}

/// So that whoever asks for the form does not add to the errors.
fn stub(mut item: DeriveInput) -> TokenStream {
    let ident = &item.ident;
    let bounds = parse_quote!(Self: __rj::std::marker::Send + __rj::std::marker::Sync + 'static);
    item.generics.make_where_clause().predicates.push(bounds);
    let (impl_generics, type_generics, where_clause) = item.generics.split_for_impl();
    quote! {
        impl #impl_generics __rj::Elicit for #ident #type_generics #where_clause {
            fn form() -> __rj::Form {
                __rj::std::unreachable!("it does not compile")
            }

            fn read(_: &__rj::Map<__rj::String, __rj::Value>) -> __rj::Result<Self, __rj::FormErrors> {
                __rj::std::unreachable!("it does not compile")
            }

            fn write(&self) -> __rj::Map<__rj::String, __rj::Value> {
                __rj::std::unreachable!("it does not compile")
            }
        }
    }
}
