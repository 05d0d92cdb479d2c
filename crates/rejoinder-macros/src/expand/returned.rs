//! What a resolver returns: what that tells, and what it becomes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Generics, parse_quote};

use super::{
    generics::{self, mentions},
    resolver::Resolver,
    spans::Extent,
};
use crate::names::local;

impl Resolver {
    /// What it returns: the type, and its shape.
    ///
    /// Constants cannot look at what depends on type parameters; there, the way it is written counts.
    pub(super) fn returned(&self) -> (TokenStream, TokenStream) {
        if !mentions(&self.output, &self.generics) {
            return (quote!(__RjReturned), quote!(__RJ_SHAPE));
        }
        let shape = generics::shape_as_written(&self.output);
        (self.output.clone(), shape)
    }

    /// Whether its value can be shared. Where that depends on type parameters, it is a resolver only if it can.
    pub(super) fn shared(&self) -> TokenStream {
        if mentions(&self.output, &self.generics) { quote!(true) } else { quote!(__RJ_SHARED) }
    }

    /// What its return type tells, with the one check that fails when that is mistaken.
    pub(super) fn probes(&self) -> Option<TokenStream> {
        let Self { ident, generics, output, .. } = self;
        if mentions(output, generics) {
            return None;
        }
        let (params, names) =
            (generics.params.iter().map(generics::declared), generics.params.iter().map(generics::name));
        let value = Extent::of(output).member(&quote!(__RjReturned), &quote!(__rj::Returned<{ __RJ_SHAPE }>), "Value");
        Some(quote! {
            type __RjReturned = #output;
            const __RJ_SHAPE: __rj::u8 = __rj::shape::of(
                __rj::Shape::<__RjReturned>::ASK,
                __rj::Shape::<__RjReturned>::RESULT,
                __rj::Shape::<__RjReturned>::RESULT_OF_ASK,
            );
            const __RJ_SHARED: __rj::bool =
                __rj::Sharing::<<__RjReturned as __rj::Returned<{ __RJ_SHAPE }>>::Value>::SHARED;
            const _: () = <#value as __rj::Shared>::SHARED;

            // What takes its value need not hear that it cannot be shared.
            #[automatically_derived]
            impl<#(#params),*> __rj::Told for #ident<#(#names),*> {
                const TOLD: __rj::bool = !__RJ_SHARED;
                type Meant = Self;
            }
        })
    }

    /// Its type parameters. Where its value depends on them, it is a resolver for those alone with which that can be shared.
    pub(super) fn generics_of_shared(&self) -> Generics {
        let mut generics = self.generics.clone();
        if mentions(&self.output, &generics) {
            let (returned, shape) = self.returned();
            let value = quote!(<#returned as __rj::Returned<{ #shape }>>::Value);
            let bound = parse_quote!(#value: __rj::std::marker::Send + __rj::std::marker::Sync + 'static);
            generics.make_where_clause().predicates.push(bound);
        }
        generics
    }

    /// Makes of what it returned an error that a call can end with.
    pub(super) fn told(&self) -> TokenStream {
        let (returned, shape) = self.returned();
        let error = Extent::of(&self.output).member(&returned, &quote!(__rj::Returned<{ #shape }>), "Error");
        let failed = local("failed");
        quote!(.map_err(|#failed| <#error as __rj::ResolverFailure>::into_tool_error(#failed)))
    }
}
