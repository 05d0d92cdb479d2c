//! The hidden type beside a function, through which the framework knows and calls it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Generics, ReturnType, Signature, Visibility};

use super::{
    beside::Beside,
    hidden::Hidden,
    named::with_names,
    parameter::{Filled, nested},
    replying, resolve,
};
use crate::{
    details::{self, Details},
    errors::Errors,
    kind::Kind,
    names::{self, local},
    parameter,
    signature::{self, Place},
    template::Variables,
};

/// All that the expansion needs to know of a function.
pub(crate) struct Twin {
    kind: Kind,
    /// The function's name.
    name: String,
    /// Its name: that of the function, so that both are imported together.
    pub(crate) ident: Ident,
    vis: Visibility,
    pub(crate) cfgs: Vec<Attribute>,
    /// Whose method the function is.
    receiver: TokenStream,
    /// The path to the function.
    function: TokenStream,
    span: Span,
    has_self: bool,
    is_async: bool,
    parameters: Vec<Filled>,
    output: TokenStream,
    details: TokenStream,
    /// The variables of a resource's URI.
    variables: Option<Variables>,
}

impl Twin {
    /// Reads a function, and takes our attributes off its parameters.
    pub(crate) fn read(
        kind: Kind,
        place: &Place,
        options: TokenStream,
        attrs: &[Attribute],
        vis: &Visibility,
        signature: &mut Signature,
        errors: &mut Errors,
    ) -> Self {
        let has_self = signature::check(kind, place, signature, errors);
        let parameters = parameter::read(kind, signature, errors);
        let name = &signature.ident;
        let Details { expression, variables } = details::read(kind, options, attrs, name, &parameters, errors);
        let output = match &signature.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, ty) => ty.to_token_stream(),
        };
        let Beside { ident, vis, receiver, function } = Beside::new(place, name, vis);
        let outside = |tokens| place.outside(tokens);
        Self {
            kind,
            name: names::wire(name),
            ident,
            vis,
            cfgs: attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect(),
            receiver,
            function,
            span: Span::call_site().located_at(name.span()),
            has_self,
            is_async: signature.asyncness.is_some(),
            parameters: parameters
                .into_iter()
                .enumerate()
                .map(|(i, p)| Filled::new(i, p, place, &Generics::default()))
                .collect(),
            output: outside(output),
            details: outside(expression),
            variables,
        }
    }

    pub(super) fn parameters(&self) -> &[Filled] {
        &self.parameters
    }

    /// The hidden type; where there were errors, one that only keeps the rest of the program compiling.
    pub(crate) fn expand(&self, sound: bool) -> TokenStream {
        let Self { ident, vis, cfgs, .. } = self;
        let hidden = Hidden { ident, vis, cfgs, generics: &Generics::default() };
        hidden.with(&if sound { self.implementation() } else { self.stub() })
    }

    fn implementation(&self) -> TokenStream {
        let Self { kind, ident, receiver, parameters, details, output, .. } = self;
        let marker = kind.marker();
        let checks = parameters.iter().map(|parameter| parameter.check(*kind));
        let slots = nested(self.span, parameters.iter().map(Filled::slot));
        let params = parameters.iter().map(Filled::param);
        let needs = parameters.iter().map(Filled::need);
        let needs = quote!(__rj::needs([#(#needs),*]));
        let needs = if self.has_resolvers() { resolve::needs_below(&needs) } else { needs };
        let node = resolve::item(*kind, &self.name, parameters);
        let graph_checks = self.has_resolvers().then(|| resolve::checks(ident, parameters));
        let replying = replying::of(*kind, output);
        let run = self.run();
        // A type that is less public than the function is told at the function's name.
        let set = quote_spanned!(self.span=> type Set = #slots;);
        let by_hand = parameters.iter().filter_map(Filled::check_rounds);
        let variables = self
            .variables
            .iter()
            .flat_map(|variables| parameters.iter().filter_map(|parameter| parameter.check_variable(variables)));
        let said = quote! {
            #(#checks)*
            #(#variables)*
            #replying
            #(#by_hand)*
            #node
            #graph_checks

            #[automatically_derived]
            impl __rj::ReadParams for #ident {
                #set
                const PARAMS: &'static [__rj::Param] = &[#(#params),*];
            }

            #[automatically_derived]
            impl __rj::Function for #ident {
                type Receiver = #receiver;
                type Kind = __rj::#marker;
                const DETAILS: <__rj::#marker as __rj::Kind>::Details = #details;

                fn node() -> &'static __rj::ItemNode<'static> {
                    &__RJ_ITEM
                }

                fn needs() -> __rj::Vec<(&'static __rj::str, __rj::Need)> {
                    #needs
                }

                #run
            }
        };
        with_names(parameters, said)
    }

    fn has_resolvers(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.resolver.is_some())
    }

    fn run(&self) -> TokenStream {
        let Self { receiver, function, has_self, is_async, parameters, .. } = self;
        let (the_receiver, the_call) = (local("receiver"), local("call"));
        let slots: Vec<_> = parameters.iter().map(|parameter| &parameter.local).collect();
        let fills = parameters.iter().map(|parameter| parameter.fill(&the_call));
        let receiver_pattern = if *has_self || self.has_resolvers() { quote!(#the_receiver) } else { quote!(_) };
        let call_pattern = if slots.is_empty() { quote!(_) } else { quote!(#the_call) };
        let self_argument = has_self.then(|| quote!(&#the_receiver,));
        // What is wrong with the future (that it cannot move between threads, say) is told at the function's name.
        let (set_pattern, resolves) = if self.has_resolvers() {
            let arguments = local("arguments");
            (quote!(#arguments), resolve::for_item(parameters, &arguments, &the_receiver, &the_call))
        } else {
            (nested(self.span, slots.iter().map(|slot| quote!(#slot))), TokenStream::new())
        };
        let called = quote_spanned!(self.span=> #function(#self_argument #(#slots),*));
        let called = if *is_async { resolve::awaited(parameters, &called, self.span) } else { called };
        let body = quote_spanned! { self.span=>
            __rj::Box::pin(async move {
                #resolves
                #(#fills)*
                (__RJ_REPLYING.reply)(#called)
            })
        };
        quote! {
            fn run(
                #receiver_pattern: __rj::Arc<#receiver>,
                #set_pattern: Self::Set,
                #call_pattern: __rj::Call,
            ) -> __rj::BoxFuture<'static, __rj::Result<__rj::Output, __rj::Halt>> {
                #body
            }
        }
    }

    /// So that `tools![..]` does not add to the errors.
    fn stub(&self) -> TokenStream {
        let Self { kind, ident, receiver, .. } = self;
        let marker = kind.marker();
        quote! {
            impl __rj::ReadParams for #ident {
                type Set = ();
                const PARAMS: &'static [__rj::Param] = &[];
            }

            impl __rj::Function for #ident {
                type Receiver = #receiver;
                type Kind = __rj::#marker;
                const DETAILS: <__rj::#marker as __rj::Kind>::Details = __rj::std::panic!("it does not compile");

                fn node() -> &'static __rj::ItemNode<'static> {
                    __rj::std::unreachable!("it does not compile")
                }

                fn needs() -> __rj::Vec<(&'static __rj::str, __rj::Need)> {
                    __rj::Vec::new()
                }

                fn run(
                    _: __rj::Arc<#receiver>,
                    _: Self::Set,
                    _: __rj::Call,
                ) -> __rj::BoxFuture<'static, __rj::Result<__rj::Output, __rj::Halt>> {
                    __rj::std::unreachable!("it does not compile")
                }
            }
        }
    }
}
