use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, GenericParam, Generics, Visibility};

use super::generics::{declared, name, types_only};
use crate::names;

/// The hidden type beside a function, which has its name and its type parameters.
pub(super) struct Hidden<'a> {
    pub(super) ident: &'a Ident,
    pub(super) vis: &'a Visibility,
    pub(super) cfgs: &'a [Attribute],
    pub(super) generics: &'a Generics,
}

impl Hidden<'_> {
    /// The type, and a place of its own for all that is said about it.
    pub(super) fn with(&self, said: &impl ToTokens) -> TokenStream {
        let Self { ident, vis, cfgs, generics } = self;
        let private = names::rejoinder();
        let defaults = types_only(generics);
        let params = generics.params.iter().map(|param| match param {
            // So that a use without its types can be told from one with them.
            GenericParam::Type(_) if defaults => {
                let name = name(param);
                quote!(#name = #private::__private::Ungiven)
            }
            param => declared(param),
        });
        let named = generics.params.iter().filter(|param| matches!(param, GenericParam::Type(_))).map(name);
        let (params, fields) = if generics.params.is_empty() {
            (None, None)
        } else {
            let fields = quote!(#[allow(dead_code, reason = "it only uses the type parameters")] __of: #private::__private::std::marker::PhantomData<fn() -> (#(#named,)*)>);
            (Some(quote!(<#(#params),*>)), Some(fields))
        };
        quote! {
            #(#cfgs)*
            #[doc(hidden)]
            #[allow(
                non_camel_case_types,
                missing_debug_implementations,
                missing_copy_implementations,
                unreachable_pub,
                reason = "it is the function's twin"
            )]
            #vis struct #ident #params { #fields }

            #(#cfgs)*
            #[allow(deprecated, unused_imports, reason = "the function may be deprecated; not all of it is used by all")]
            const _: () = {
                use #private::__private as __rj;
                use #private::__private::{
                    Needed as _, NotArgument as _, NotAsk as _, NotByHand as _, NotForm as _, NotGeneric as _, NotInjected as _, NotReply as _, NotResolver as _, NotResult as _,
                    NotResultOfAsk as _, NotShared as _, NotTold as _, NotUngiven as _, NotWrapped as _,
                };
                #said
            };
        }
    }
}
