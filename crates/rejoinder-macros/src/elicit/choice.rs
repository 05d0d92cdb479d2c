//! `#[derive(ElicitEnum)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Expr, Fields, LitStr, Variant, parse_quote};

use super::{CASES, check_names, derive, elicit_options, serde_option, variant_name};
use crate::{constraints::use_one_of, docs, errors::Errors, names, options::option};

struct ChoiceVariant {
    ident: Ident,
    value: String,
    /// The expression of an `Option`.
    title: TokenStream,
}

/// Implements `ElicitEnum`.
pub(crate) fn choice(item: TokenStream) -> TokenStream {
    derive(item, "a choice", &["rename_all", "legacy_names"], |item, options, errors| {
        let case = options
            .value::<LitStr>("rename_all", "\"..\"", errors)
            .or_else(|| serde_option(&item.attrs, "rename_all", errors));
        let legacy = options.flag("legacy_names", errors).unwrap_or_else(|| parse_quote!(false));
        if let Some(case) = case.as_ref().filter(|case| !CASES.contains(&&*case.value())) {
            let written = case.value();
            errors.at(case, format!("`rename_all` has no case `{written}`; {}", use_one_of(&written, &CASES)));
        }
        let case = case.map_or_else(String::new, |case| case.value());
        Some(implementation(&item.ident, &read(item, &case, errors)?, &legacy))
    })
}

fn read(item: &DeriveInput, case: &str, errors: &mut Errors) -> Option<Vec<ChoiceVariant>> {
    let Data::Enum(data) = &item.data else {
        errors.at(&item.ident, "a choice must be an enum; for a form, derive `Elicit`");
        return None;
    };
    if data.variants.is_empty() {
        errors.at(&item.ident, "a choice needs at least one variant");
    }
    let variants: Vec<_> = data.variants.iter().map(|variant| read_variant(variant, case, errors)).collect();
    check_names(variants.iter().map(|variant| (&variant.ident, variant.value.as_str())), "choice", errors);
    Some(variants)
}

fn read_variant(variant: &Variant, case: &str, errors: &mut Errors) -> ChoiceVariant {
    if !matches!(variant.fields, Fields::Unit) {
        errors.at(&variant.fields, "a variant of a choice cannot have data: use another field of the form");
    }
    let mut options = elicit_options("`#[elicit]`", &variant.attrs, &["title", "name"], errors);
    let name =
        options.value::<LitStr>("name", "\"..\"", errors).or_else(|| serde_option(&variant.attrs, "rename", errors));
    let title = options.expression("title", "\"..\"", errors);
    options.finish(errors);
    ChoiceVariant {
        value: name.map_or_else(|| variant_name(&names::wire(&variant.ident), case), |name| name.value()),
        // MCP has one text for a choice. Without a title, that is the doc comment.
        title: option(title.map(|title| title.to_token_stream()).or_else(|| docs::description(&variant.attrs))),
        ident: variant.ident.clone(),
    }
}

fn implementation(ident: &Ident, variants: &[ChoiceVariant], legacy: &Expr) -> TokenStream {
    let idents: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let values: Vec<_> = variants.iter().map(|variant| &variant.value).collect();
    let titles = variants.iter().map(|variant| &variant.title);
    let value = names::local("value");
    quote! {
        #[automatically_derived]
        impl __rejoinder::ElicitEnum for #ident {
            const CHOICES: &'static [(&'static ::std::primitive::str, ::std::option::Option<&'static ::std::primitive::str>)] =
                &[#((#values, #titles)),*];
            const LEGACY_NAMES: ::std::primitive::bool = #legacy;

            fn from_value(#value: &::std::primitive::str) -> ::std::option::Option<Self> {
                match #value {
                    #(#values => ::std::option::Option::Some(Self::#idents),)*
                    _ => ::std::option::Option::None,
                }
            }

            fn value(&self) -> &'static ::std::primitive::str {
                match self {
                    #(Self::#idents => #values,)*
                }
            }
        }
    }
}
