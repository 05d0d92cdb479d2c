use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, GenericParam, Generics, Visibility};

use super::generics::name;
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
        let declared = generics.params.iter().map(|param| match param {
            GenericParam::Const(param) => {
                let (ident, ty) = (&param.ident, &param.ty);
                quote!(const #ident: #ty)
            }
            other => name(other),
        });
        let named = generics.params.iter().filter(|param| matches!(param, GenericParam::Type(_))).map(name);
        let (declared, fields) = if generics.params.is_empty() {
            (None, None)
        } else {
            let fields = quote!(#[allow(dead_code, reason = "it only uses the type parameters")] __of: #private::__private::std::marker::PhantomData<fn() -> (#(#named,)*)>);
            (Some(quote!(<#(#declared),*>)), Some(fields))
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
            #vis struct #ident #declared { #fields }

            #(#cfgs)*
            #[allow(deprecated, unused_imports, reason = "the function may be deprecated; not all of it is used by all")]
            const _: () = {
                use #private::__private as __rj;
                use #private::__private::{
                    Needed as _, NotArgument as _, NotAsk as _, NotByHand as _, NotInjected as _, NotResult as _, NotResultOfAsk as _,
                };
                #said
            };
        }
    }
}
