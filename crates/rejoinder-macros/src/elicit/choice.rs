//! `#[derive(ElicitEnum)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Fields, Variant, parse_quote};

use super::{attribute, case::Case, field::check_names};
use crate::{
    docs,
    errors::Errors,
    names,
    options::{Options, option},
};

struct Chosen {
    ident: Ident,
    value: String,
    /// The title, as the expression of an `Option`.
    title: TokenStream,
}

/// Implements `ElicitEnum`; where there were mistakes, in a way that only keeps the rest of the program compiling.
pub(crate) fn choice(item: TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let mut options = attribute::options(&item.attrs, &["rename_all", "legacy_names"], &mut errors);
    let case = options.literal("rename_all", &mut errors).map(|name| Case::parse(&name, &mut errors));
    let legacy = legacy_names(&mut options, &mut errors);
    options.finish(&mut errors);
    let variants = read(&item, case.unwrap_or(Case::Pascal), &mut errors);
    let private = names::rejoinder();
    let implementation = if errors.is_empty() { implementation(&item.ident, &variants, &legacy) } else { stub(item) };
    let errors = errors.into_tokens();
    quote! {
        #errors
        #[allow(deprecated, reason = "the choice, or one of its variants, may be")]
        const _: () = {
            use #private::__private as __rj;
            #implementation
        };
    }
}

fn legacy_names(options: &mut Options, errors: &mut Errors) -> TokenStream {
    let flag = options.flag("legacy_names", errors);
    quote!(__rj::std::matches!(#flag, __rj::Some(true)))
}

fn read(item: &DeriveInput, case: Case, errors: &mut Errors) -> Vec<Chosen> {
    let Data::Enum(data) = &item.data else {
        errors.at(&item.ident, "a choice is an enum: derive `Elicit` for a form");
        return Vec::new();
    };
    attribute::check_generics(&item.generics, "a choice", errors);
    if data.variants.is_empty() {
        errors.at(&item.ident, "there is nothing to choose: give it variants");
    }
    let variants: Vec<Chosen> = data.variants.iter().map(|variant| read_one(variant, case, errors)).collect();
    check_names(variants.iter().map(|variant| (&variant.ident, variant.value.as_str())), "choice", errors);
    variants
}

fn read_one(variant: &Variant, case: Case, errors: &mut Errors) -> Chosen {
    match &variant.fields {
        Fields::Unit => {}
        fields => errors.at(fields, "a choice of a form carries no data: ask for more in another field"),
    }
    let mut options = attribute::options(&variant.attrs, &["title", "name"], errors);
    let name = options.literal("name", errors);
    let title = options.expression("title", "\"..\"", errors);
    options.finish(errors);
    if let Some(title) = &title {
        attribute::text("title", title, errors);
    }
    Chosen {
        value: name.map_or_else(|| case.apply(&names::wire(&variant.ident)), |name| name.value()),
        // A choice has one text beside its value: what its doc comment says, unless it has a title.
        title: option(title.map(|title| title.to_token_stream()).or_else(|| docs::description(&variant.attrs))),
        ident: variant.ident.clone(),
    }
}

fn implementation(ident: &Ident, variants: &[Chosen], legacy: &TokenStream) -> TokenStream {
    let idents: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let values: Vec<_> = variants.iter().map(|variant| &variant.value).collect();
    let titles = variants.iter().map(|variant| &variant.title);
    let value = names::local("value");
    quote! {
        #[automatically_derived]
        impl __rj::ElicitEnum for #ident {
            const CHOICES: &'static [(&'static __rj::str, __rj::Option<&'static __rj::str>)] =
                &[#((#values, #titles)),*];
            const LEGACY_NAMES: __rj::bool = #legacy;

            fn from_value(#value: &__rj::str) -> __rj::Option<Self> {
                match #value {
                    #(#values => __rj::Some(Self::#idents),)*
                    _ => __rj::None,
                }
            }

            fn value(&self) -> &'static __rj::str {
                match self {
                    #(Self::#idents => #values,)*
                }
            }
        }
    }
}

/// So that the forms with such a choice do not add to the errors.
fn stub(mut item: DeriveInput) -> TokenStream {
    let ident = &item.ident;
    let bounds = parse_quote!(Self: __rj::std::marker::Send + __rj::std::marker::Sync + 'static);
    item.generics.make_where_clause().predicates.push(bounds);
    let (impl_generics, type_generics, where_clause) = item.generics.split_for_impl();
    quote! {
        impl #impl_generics __rj::ElicitEnum for #ident #type_generics #where_clause {
            const CHOICES: &'static [(&'static __rj::str, __rj::Option<&'static __rj::str>)] = &[];

            fn from_value(_: &__rj::str) -> __rj::Option<Self> {
                __rj::std::unreachable!("it does not compile")
            }

            fn value(&self) -> &'static __rj::str {
                __rj::std::unreachable!("it does not compile")
            }
        }
    }
}
