//! `#[tool]`, `#[prompt]` and `#[resource]`: the hidden type through which the framework knows and calls the function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Generics, ReturnType, Signature, Visibility};

use super::{
    HiddenType,
    parameter::{self, Filled, refusals, resolve, take, with_resolvers},
};
use crate::{
    details::{self, Details},
    errors::{Errors, Extent},
    kind::Kind,
    names::{self, local},
    parameter::read_all,
    signature::{self, Place},
};

/// All that the expansion needs to know of a tool, prompt or resource.
pub(super) struct Item {
    pub(super) kind: Kind,
    name: Ident,
    pub(super) hidden: HiddenType,
    has_self: bool,
    is_async: bool,
    pub(super) parameters: Vec<Filled>,
    output: TokenStream,
    details: Details,
}

impl Item {
    /// Reads a function, and takes our attributes off its parameters.
    pub(super) fn read(
        kind: Kind,
        place: &Place,
        options: TokenStream,
        attrs: &[Attribute],
        vis: &Visibility,
        signature: &mut Signature,
        errors: &mut Errors,
    ) -> Self {
        let has_self = signature::check(kind, place, signature, errors);
        let parameters = read_all(kind, signature, errors);
        let name = &signature.ident;
        let details = details::read(kind, options, attrs, name, &parameters, errors);
        let output = match &signature.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, ty) => ty.to_token_stream(),
        };
        Self {
            kind,
            name: name.clone(),
            hidden: HiddenType::new(place, name, vis, attrs, Generics::default()),
            has_self,
            is_async: signature.asyncness.is_some(),
            parameters: parameter::read(parameters, place, &Generics::default()),
            output: place.outside(output),
            details: details.outside(place),
        }
    }

    /// The hidden type. After errors it knows only enough for `tools![..]` to compile.
    pub(super) fn expand(mut self, is_sound: bool) -> TokenStream {
        if !is_sound {
            self.parameters.clear();
            // Every kind can return it.
            self.output = quote!(__rj::String);
            self.details = Details::nothing();
        }
        let code = self.implementation(is_sound);
        self.hidden.with(&with_resolvers(&self.parameters, code))
    }

    fn implementation(&self, is_sound: bool) -> TokenStream {
        let Self { kind, parameters, output, .. } = self;
        let HiddenType { ident, receiver, .. } = &self.hidden;
        let declared = parameters.iter().map(Filled::declared);
        let slots: Vec<_> = parameters.iter().filter(|parameter| parameter.has_slot()).map(Filled::slot).collect();
        // Its fields are checked before everything else, each where the author wrote its type.
        let slots_struct = (!slots.is_empty()).then(|| quote!(struct __RjSlots(#(#slots),*);));
        let params = parameters.iter().filter(|parameter| parameter.has_slot()).map(Filled::param);
        // A type that is less public than the function is reported at the function's name.
        let set = nested(self.span(), slots.iter().cloned());
        let set = quote_spanned!(self.span()=> type Set = #set;);
        let (details, details_type) =
            (self.details.expression(*kind, output, &names::wire(&self.name)), kind.details());
        let (node, checks, run) = (self.node(), self.checks(), self.run(is_sound));
        quote! {
            #(#declared)*
            #slots_struct
            #node
            #checks

            #[automatically_derived]
            impl __rj::ReadParams for #ident {
                #set
                const PARAMS: &'static [__rj::Param] = &[#(#params),*];
            }

            #[automatically_derived]
            impl __rj::Function for #ident {
                type Receiver = #receiver;
                type Details = __rj::#details_type;
                const DETAILS: __rj::#details_type = #details;

                fn node() -> &'static __rj::ItemNode<'static> {
                    &__RJ_ITEM
                }

                #run
            }
        }
    }

    /// Errors about the function as a whole, such as a future that is not `Send`, are reported at its name.
    fn span(&self) -> Span {
        Span::call_site().located_at(self.name.span())
    }

    /// Its place in the graph.
    fn node(&self) -> TokenStream {
        let (kind, name) = (self.kind.word(), names::wire(&self.name));
        let arguments = self.parameters.iter().filter_map(|parameter| parameter.node_argument(true));
        let edges = self.parameters.iter().filter_map(Filled::edge);
        let by_hand = self.returned("BY_HAND");
        let variables = match &self.details.variables {
            Some(variables) => quote!(__rj::Some(&[#(#variables),*])),
            None => quote!(__rj::None),
        };
        quote! {
            static __RJ_ITEM: __rj::ItemNode<'static> = __rj::ItemNode {
                kind: #kind,
                name: #name,
                arguments: &[#(#arguments),*],
                edges: &[#(#edges),*],
                by_hand: #by_hand,
                variables: #variables,
            };
        }
    }

    /// `<returned as IntoToolResult>::member`.
    fn returned(&self, member: &str) -> TokenStream {
        let reply = self.kind.reply();
        Extent::of(&self.output).member(&self.output, quote!(__rj::reply::#reply), member)
    }

    /// The checks of all that it needs.
    fn checks(&self) -> Option<TokenStream> {
        let (ident, parameters) = (&self.hidden.ident, &self.parameters);
        let check = Ident::new("__RJ_CHECK", Span::call_site());
        let refusals = refusals(&check, parameters);
        let resolvers: Vec<_> = parameters.iter().filter_map(|parameter| parameter.resolver.as_ref()).collect();
        let fits = resolvers.iter().map(|resolver| {
            let fits = quote!(__rj::FitsIf<#ident, { #check.is_sound() }>);
            resolver.extent.member(&resolver.ty(), fits, "FITS")
        });
        let has = parameters.iter().filter(|_| !resolvers.is_empty()).filter_map(|p| p.has_argument(ident));
        (!parameters.is_empty()).then(|| {
            quote! {
                const #check: __rj::Check = __RJ_ITEM.check();
                const _: () = {
                    #refusals
                    #(let _ = #fits;)*
                };
                #(#has)*
            }
        })
    }

    fn run(&self, is_sound: bool) -> TokenStream {
        let Self { has_self, is_async, parameters, .. } = self;
        let HiddenType { receiver, function, .. } = &self.hidden;
        let [callee, arguments, call, by_name, walk] = ["callee", "arguments", "call", "by_name", "walk"].map(local);
        let supplies = parameters.iter().filter_map(|parameter| parameter.supply(&quote!(&#call)));
        let resolves = resolve(parameters, &walk).map(|(pattern, future)| {
            quote! {
                let #pattern = {
                    let #by_name = __rj::FunctionArguments::<Self>(&#arguments);
                    let #walk = __rj::Walk::new(&#call, &#by_name, &*#callee.receiver, &#callee.keys);
                    #future
                };
            }
        });
        let takes = take(parameters);
        let slots = parameters.iter().filter(|parameter| parameter.has_slot()).map(Filled::slot_variable);
        let slots = nested(Span::call_site(), slots.map(ToTokens::into_token_stream));
        let fills = parameters.iter().filter_map(Filled::fill);
        let locals = parameters.iter().map(|parameter| &parameter.local);
        let self_argument = has_self.then(|| quote!(&#callee.receiver,));
        let wait = is_async.then(|| quote!(.await));
        let into_output = self.returned("into_output");
        let body = if is_sound {
            quote_spanned! { self.span()=>
                __rj::Box::pin(async move {
                    #(#supplies)*
                    #resolves
                    #takes
                    let #slots = #arguments;
                    #(#fills)*
                    #into_output(#function(#self_argument #(#locals),*)#wait)
                })
            }
        } else {
            quote!(__rj::std::unreachable!("it does not compile"))
        };
        quote! {
            #[allow(unused_variables, reason = "not every function needs all of them")]
            fn run(
                #callee: __rj::std::sync::Arc<__rj::Callee<#receiver>>,
                #arguments: Self::Set,
                #call: __rj::Call,
            ) -> __rj::BoxFuture<'static, __rj::Result<__rj::Output, __rj::Halt>> {
                #body
            }
        }
    }
}

/// One for each argument, as nested pairs: `(a, (b, ()))`.
fn nested(span: Span, each: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    each.rev().fold(quote_spanned!(span=> ()), |rest, one| quote_spanned!(span=> (#one, #rest)))
}
