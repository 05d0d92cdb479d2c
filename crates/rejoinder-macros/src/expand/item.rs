//! `#[tool]`, `#[prompt]` and `#[resource]`: the hidden type through which the framework knows and calls the function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::{
    HiddenType,
    parameter::{pass, piped_types, resolve, take_resolved},
};
use crate::{
    details::Details,
    errors::Extent,
    kind::Kind,
    names::{self, local},
    options::with_fields,
    parameter::FunctionParameter,
};

impl HiddenType {
    /// A tool, prompt or resource.
    pub(super) fn item(&self, details: &Details) -> TokenStream {
        let Self { kind, ident, receiver, parameters, gates, .. } = self;
        let (item, function) = (kind.item(), function_type());
        let slots: Vec<_> =
            parameters.iter().filter(|parameter| parameter.has_slot()).map(FunctionParameter::slot).collect();
        // Its fields are checked before everything else, each where the author wrote its type.
        let slots_struct = (!slots.is_empty()).then(|| quote!(struct __RjSlots(#(#slots),*);));
        let params = parameters.iter().filter(|parameter| parameter.has_slot()).map(FunctionParameter::param);
        let set = nested(Span::call_site(), slots.iter().cloned());
        let mut fields = details.fields.clone();
        if *kind == Kind::Tool {
            let schema = self.replied("output_schema");
            fields.extend(quote!(output_schema: #schema,));
        }
        let gates_of = gates.iter().map(|gate| {
            let (ty, node) = (gate.ty(), gate.node());
            quote_spanned!(gate.at=> __rj::Gate::of::<#ty>(#node))
        });
        let gates = (!gates.is_empty()).then(|| quote!(const GATES: &'static [__rj::Gate] = &[#(#gates_of),*];));
        let (node, checks, run) = (self.item_node(), self.item_checks(), self.run_item(details.blocking));
        let details = with_fields(&quote!(__rj::ItemDetails), &details.name, fields);
        let piped_types = piped_types(parameters);
        self.with(quote! {
            #piped_types
            // A separate type, so that arguments may be less public than the function.
            struct #function;
            #slots_struct
            #node
            #checks

            #[automatically_derived]
            impl __rj::ListedAs<__rejoinder::#item, #receiver> for #ident {
                fn item(receiver: ::std::sync::Arc<#receiver>) -> __rejoinder::#item {
                    __rejoinder::#item::of::<#function>(receiver)
                }
            }

            #[automatically_derived]
            impl __rj::ReadParams for #function {
                type Set = #set;
                const PARAMS: &'static [__rj::Param] = &[#(#params),*];
            }

            #[automatically_derived]
            impl __rj::Function for #function {
                type Receiver = #receiver;
                const DETAILS: __rj::ItemDetails = #details;
                #gates

                fn node() -> &'static __rj::ItemNode<'static> {
                    &__RJ_ITEM
                }

                #run
            }
        })
    }

    /// Its place in the graph.
    fn item_node(&self) -> TokenStream {
        let Self { kind, name, parameters, .. } = self;
        let (kind, name) = (kind.word(), names::wire(name));
        let arguments = parameters.iter().filter_map(|parameter| parameter.node_argument(true));
        let edges = parameters.iter().filter_map(FunctionParameter::edge);
        let by_hand = self.replied("BY_HAND");
        quote! {
            static __RJ_ITEM: __rj::ItemNode<'static> =
                __rj::ItemNode::new(#kind, #name, &[#(#arguments),*], &[#(#edges),*], #by_hand);
        }
    }

    /// `<returned as IntoToolResult>::member`.
    fn replied(&self, member: &str) -> TokenStream {
        let (reply, output) = (self.kind.reply(), &self.output);
        Extent::of(output).member(output, quote!(__rejoinder::reply::#reply), member)
    }

    /// The checks of all that it needs.
    fn item_checks(&self) -> TokenStream {
        let (function, parameters) = (function_type(), &self.parameters);
        let check = Ident::new("__RJ_CHECK", Span::call_site());
        let refusals = self.refusals(&check);
        let resolvers: Vec<_> = parameters.iter().filter_map(FunctionParameter::resolver).collect();
        let fits = resolvers.iter().map(|resolver| {
            let fits = quote!(__rj::FitsIn<#function, { #check.is_sound() }>);
            resolver.extent.member(&resolver.ty(), fits, "FITS")
        });
        let has =
            parameters.iter().filter(|_| !resolvers.is_empty()).filter_map(|p| p.has_argument(&function, parameters));
        let gates = self.gates.iter().map(|gate| {
            let (node, fits) = (gate.node(), gate.extent.member(&gate.ty(), quote!(__rj::GateResolver), "FITS"));
            let check = gate.extent.call(quote!(#node.check_gate().at), &0usize);
            quote!(let _ = #fits; #check)
        });
        quote! {
            const #check: __rj::Check = __RJ_ITEM.check();
            const _: () = {
                #refusals
                #(#gates;)*
                #(let _ = #fits;)*
            };
            #(#has)*
        }
    }

    fn run_item(&self, is_blocking: bool) -> TokenStream {
        let Self { receiver, parameters, .. } = self;
        let [callee, arguments, call, by_name, walk] = ["callee", "arguments", "call", "by_name", "walk"].map(local);
        let supplies = parameters.iter().filter_map(|parameter| parameter.supply(&quote!(&#call)));
        let walk_before = quote!(#callee.walk(&#call, &()));
        let passes = pass(parameters, &arguments, &walk_before).map(|passes| {
            let is_changed = parameters.iter().any(|parameter| !parameter.pipes.is_empty() && parameter.has_slot());
            let changed = is_changed.then(|| quote!(let mut #arguments = #arguments;));
            quote!(#changed #passes)
        });
        let resolves = resolve(parameters, &walk).map(|(pattern, future)| {
            quote! {
                let #pattern = {
                    let #by_name = Self::by_name(&#arguments);
                    let #walk = #callee.walk(&#call, &#by_name);
                    #future
                };
            }
        });
        let takes = take_resolved(parameters);
        let slots = parameters.iter().filter(|parameter| parameter.has_slot()).map(FunctionParameter::slot_variable);
        let slots = nested(Span::call_site(), slots.map(ToTokens::into_token_stream));
        let fills = parameters.iter().filter_map(FunctionParameter::fill);
        let (into_output, mut called) = (self.replied("into_output"), self.call(&quote!(&#callee.receiver)));
        if is_blocking {
            called = quote!(__rj::blocking(|| #called).await);
        }
        let body = quote_spanned! { self.span()=>
            ::std::boxed::Box::pin(async move {
                #(#supplies)*
                #passes
                #resolves
                #takes
                let #slots = #arguments;
                #(#fills)*
                #call.enter()?;
                #into_output(#called)
            })
        };
        quote! {
            #[allow(unused_variables, reason = "not every function needs all of them")]
            fn run(
                #callee: ::std::sync::Arc<__rj::Callee<#receiver>>,
                #arguments: Self::Set,
                #call: __rejoinder::Call,
            ) -> __rejoinder::BoxFuture<'static, ::std::result::Result<__rj::FunctionOutput, __rj::Halt>> {
                #body
            }
        }
    }
}

/// The type that knows the function's arguments.
fn function_type() -> Ident {
    Ident::new("__RjFunction", Span::call_site())
}

/// One for each argument, as nested pairs: `(a, (b, ()))`.
fn nested(span: Span, each: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    each.rev().fold(quote_spanned!(span=> ()), |rest, one| quote_spanned!(span=> (#one, #rest)))
}
