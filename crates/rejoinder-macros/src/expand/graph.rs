//! A resolver's place in the graph: what the compiler walks, and what a call does.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{
    generics::{self, mentions},
    parameter::Filled,
    resolver::Resolver,
    spans::{Extent, respanned},
};
use crate::{names, options::option};

impl Resolver {
    /// For a resolver with a mistake in it, which is told: whoever names it need not hear of it.
    ///
    /// The mistakes are part of a type, so that nothing is said of what depends on that.
    pub(super) fn stub(&self, mistakes: &TokenStream) -> TokenStream {
        let Self { ident, generics, .. } = self;
        let (params, names) = (&generics.params, generics.params.iter().map(generics::name));
        let params = params.iter().map(generics::declared);
        quote! {
            impl<#(#params),*> __rj::Told for #ident<#(#names),*> {
                const TOLD: __rj::bool = true;
                type Meant = [(); { #mistakes 0 }];
            }
        }
    }

    /// So that a use without its types, or with others than it can have, can be told from what is no resolver.
    pub(super) fn generic_over(&self) -> Option<TokenStream> {
        let Self { ident, generics, .. } = self;
        let params = generics.params.iter().map(generics::declared);
        let names: Vec<_> = generics.params.iter().map(generics::name).collect();
        let first = if generics::types_only(generics) { names.first()?.clone() } else { quote!(()) };
        self.is_generic()
            .then(|| quote!(impl<#(#params),*> __rj::GenericOver for #ident<#(#names),*> { type First = #first; }))
    }

    /// Its place in the graph: a static value, so that a cycle of them can be told in our words.
    pub(super) fn node(&self) -> TokenStream {
        let Self { ident, parameters, generics, .. } = self;
        let ((_, shape), returns) = (self.returned(), names::pretty(&self.output));
        let (name, key) = (names::wire(&self.name), option(self.key.as_ref()));
        let has_plain_name = *ident == self.name && !self.is_generic();
        let arguments = parameters.iter().filter_map(Filled::node_argument);
        let below = parameters.iter().filter_map(|parameter| Some(parameter.named.as_ref()?.node(generics)));
        // With the span of the function's own name, the line is that of the function.
        let at = quote_spanned!(ident.span()=> __rj::std::concat!(__rj::std::file!(), ":", __rj::std::line!()));
        let stand_ins = generics::stand_ins(generics);
        let (params, names) =
            (generics.params.iter().map(generics::declared), generics.params.iter().map(generics::name));
        quote! {
            static __RJ_NODE: __rj::Node = {
                #stand_ins
                __rj::Node {
                    id: __rj::node_id(__rj::std::module_path!(), #name, #at),
                    name: #name,
                    key: #key,
                    module: __rj::std::module_path!(),
                    has_plain_name: #has_plain_name,
                    at: #at,
                    arguments: &[#(#arguments),*],
                    below: &[#(#below),*],
                    returns: #returns,
                    asks: __rj::shape::asks(#shape),
                }
            };

            #[automatically_derived]
            impl<#(#params),*> #ident<#(#names),*> {
                #[doc(hidden)]
                #[allow(unreachable_pub, reason = "the type may be less public")]
                pub const fn __node() -> &'static __rj::Node {
                    &__RJ_NODE
                }
            }
        }
    }

    /// It, as a call runs it.
    pub(super) fn instance(&self) -> TokenStream {
        let Self { ident, parameters, generics, function, .. } = self;
        let (_, ty_generics, _) = generics.split_for_impl();
        let turbofish = self.turbofish();
        let edges = parameters.iter().filter_map(Filled::edge);
        let needs = parameters.iter().map(Filled::need);
        let by_name = parameters.iter().filter_map(Filled::by_name);
        let form = if mentions(&self.output, generics) {
            quote!(__rj::None)
        } else {
            quote!(__rj::Shape::<__RjReturned>::FORM)
        };
        let instance = quote! {
            __rj::Instance {
                node: &__RJ_NODE,
                edges: &[#(#edges),*],
                type_id: || __rj::std::any::TypeId::of::<#ident #ty_generics>(),
                type_name: || __rj::std::any::type_name::<#ident #ty_generics>(),
                function: || __rj::std::any::Any::type_id(&#function #turbofish),
                output: || __rj::std::any::TypeId::of::<<#ident #ty_generics as __rj::Resolver>::Output>(),
                output_name: || __rj::std::any::type_name::<<#ident #ty_generics as __rj::Resolver>::Output>(),
                needs: || __rj::needs([#(#needs),*]),
                by_name: &[#(#by_name),*],
                form: #form,
            }
        };
        if self.is_generic() {
            quote!(const { &#instance })
        } else {
            quote!(static INSTANCE: __rj::Instance = #instance; &INSTANCE)
        }
    }

    /// What an item must have for the resolver to find its arguments.
    pub(super) fn fits(&self) -> TokenStream {
        let Self { ident, generics, .. } = self;
        let (_, ty_generics, clause) = generics.split_for_impl();
        let (params, predicates) = (generics.params.iter(), clause.iter().flat_map(|clause| &clause.predicates));
        let bounds = self.parameters.iter().map(|parameter| {
            let Filled { alias, source, .. } = parameter;
            match &parameter.resolver {
                Some(resolver) => quote!(#resolver: __rj::FitsIn<__RjItem>),
                None => {
                    // Where an item's argument is of another type, the compiler shows this one, too.
                    let Extent { start, end } = parameter.extent();
                    let same = respanned(quote!(__rj::SameAs), start);
                    let same = quote_spanned!(end=> #same<#alias>);
                    let name = parameter.name_type();
                    quote!(__RjItem: __rj::Offers<#name, { #source }, Type<#alias>: #same>)
                }
            }
        });
        let fits = quote_spanned!(ident.span()=> __rj::FitsIn<__RjItem>);
        quote! {
            #[automatically_derived]
            impl<__RjItem, #(#params),*> #fits for #ident #ty_generics
            where #(#predicates,)* #(#bounds),* {}
        }
    }

    /// The check for cycles, each told at the parameter where it begins.
    pub(super) fn check_cycle(&self) -> Option<TokenStream> {
        let named = self.parameters.iter().filter_map(|parameter| parameter.named.as_ref());
        let refusals: Vec<_> = named
            .enumerate()
            .map(|(index, named)| {
                let refuse = named.extent.refuse(&quote!(CYCLE.report.as_str()));
                quote! {
                    if CYCLE.failed(#index) {
                        #refuse
                    }
                }
            })
            .collect();
        (!refusals.is_empty()).then(|| {
            quote! {
                const _: () = {
                    const CYCLE: __rj::CycleCheck = __rj::check_cycle(&__RJ_NODE);
                    #(#refusals)*
                };
            }
        })
    }
}
