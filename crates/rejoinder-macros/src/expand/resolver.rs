//! `#[resolver]`: the hidden type beside the function, which is its place in the graph.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Generics, LitStr, ReturnType, Signature, Visibility};

use super::{
    beside::Beside,
    free::one_attribute,
    generics,
    hidden::Hidden,
    named::with_names,
    parameter::Filled,
    resolve,
    spans::{Extent, respanned},
};
use crate::{
    errors::Errors,
    function::Function,
    kind::Kind,
    names::local,
    options::Options,
    parameter::{self, Source},
    signature::{self, Place},
};

/// `#[resolver]` on a function.
pub(crate) fn resolver(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Ok(mut function) = syn::parse2::<Function>(item.clone()) else {
        let first: Option<TokenTree> = item.clone().into_iter().next();
        errors.at(first, "`#[resolver]` goes on a function");
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    };
    one_attribute(&mut function.attrs, &mut errors);
    let Function { attrs, vis, signature, .. } = &mut function;
    let twin = Resolver::read(&Place::Free, options, attrs, vis, signature, &mut errors);
    // Among the items of an `impl` block no type can be declared, and the error is about that.
    let mistakes = (!errors.is_empty()).then(|| errors.into_tokens());
    let twin = if twin.has_self { mistakes.unwrap_or_default() } else { twin.expand(mistakes.as_ref()) };
    quote!(#function #twin)
}

/// All that the expansion needs to know of a resolver.
pub(super) struct Resolver {
    /// The function's name.
    pub(super) name: Ident,
    /// The hidden type's name.
    pub(super) ident: Ident,
    /// The path to the function.
    pub(super) function: TokenStream,
    /// Whose method it is.
    receiver: TokenStream,
    vis: Visibility,
    cfgs: Vec<Attribute>,
    has_self: bool,
    is_async: bool,
    pub(super) parameters: Vec<Filled>,
    /// With the bounds that every type parameter of a resolver has.
    pub(super) generics: Generics,
    pub(super) output: TokenStream,
    pub(super) key: Option<LitStr>,
    cached: TokenStream,
}

impl Resolver {
    /// Reads a function, and takes our attributes off its parameters.
    pub(super) fn read(
        place: &Place,
        options: TokenStream,
        attrs: &[Attribute],
        vis: &Visibility,
        signature: &mut Signature,
        errors: &mut Errors,
    ) -> Self {
        let mut options = Options::parse("`#[resolver]`", &["key", "cache"], options, errors);
        let key = options.literal("key", errors);
        let cached = options.flag("cache", errors);
        options.finish(errors);
        if let Some(key) = key.as_ref().filter(|key| key.value().is_empty()) {
            errors.at(key, "a key cannot be empty");
        }
        let has_self = signature::check(Kind::Resolver, place, signature, errors);
        let parameters = parameter::read(Kind::Resolver, signature, errors);
        let generics = generics::bounded(&signature.generics, place);
        let Beside { ident, vis, receiver, function } = Beside::new(place, &signature.ident, vis);
        Self {
            name: signature.ident.clone(),
            ident,
            function,
            receiver,
            vis,
            cfgs: attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect(),
            has_self,
            is_async: signature.asyncness.is_some(),
            parameters: parameters.into_iter().enumerate().map(|(i, p)| Filled::new(i, p, place, &generics)).collect(),
            generics,
            output: match &signature.output {
                ReturnType::Default => quote!(()),
                ReturnType::Type(_, ty) => place.outside(ty.to_token_stream()),
            },
            key,
            cached,
        }
    }

    pub(super) fn is_named(&self, name: &Ident) -> bool {
        self.name == *name
    }

    pub(super) fn parameters(&self) -> &[Filled] {
        &self.parameters
    }

    /// The hidden type; where there were mistakes, one that nothing else is known of.
    pub(super) fn expand(&self, mistakes: Option<&TokenStream>) -> TokenStream {
        let Self { ident, vis, cfgs, generics, .. } = self;
        let said = mistakes.map_or_else(|| self.implementation(), |mistakes| self.stub(mistakes));
        Hidden { ident, vis, cfgs, generics }.with(&said)
    }

    fn implementation(&self) -> TokenStream {
        let Self { ident, parameters, output, cached, .. } = self;
        let checks = parameters.iter().map(|parameter| parameter.check(Kind::Resolver));
        let by_hand = parameters.iter().filter_map(Filled::check_by_hand);
        let (returned, shape) = self.returned();
        let asks_again =
            Extent::of(output).refuse(&"a resolver that asks does so once in a round: remove `cache = false`");
        let shared = self.shared();
        let (probes, generics) = (self.probes(), self.generics_of_shared());
        let (impl_generics, ty_generics, clause) = generics.split_for_impl();
        let (node, instance, run, beside) = (self.node(), self.instance(), self.run(), self.beside());
        let (fits, cycle, meant) = (self.fits(), self.check_cycle(), self.meant(&generics));
        let generic_over = self.generic_over();
        let said = quote! {
            #(#checks)*
            #(#by_hand)*
            #probes
            const __RJ_CACHED: __rj::bool = __rj::is_cached(#cached, #shape);
            const _: () = if __rj::asks_again(#cached, #shape) {
                #asks_again
            };

            #node

            #[automatically_derived]
            impl #impl_generics __rj::Resolver for #ident #ty_generics #clause {
                type Output = <<#returned as __rj::Returned<{ #shape }>>::Value as __rj::Made<{ #shared }>>::Type;
                const CACHED: __rj::bool = __RJ_CACHED;

                fn instance() -> &'static __rj::Instance {
                    #instance
                }

                #run

                #beside
            }

            #fits
            #cycle
            #meant
            #generic_over
        };
        with_names(parameters, said)
    }

    fn run(&self) -> TokenStream {
        let Self { name, function, receiver, parameters, is_async, .. } = self;
        let ((returned, shape), shared) = (self.returned(), self.shared());
        let turbofish = self.turbofish();
        let (walk, value) = (local("walk"), local("value"));
        let resolves = resolve::for_resolver(parameters, &walk);
        let fills = parameters.iter().filter(|parameter| parameter.resolver.is_none()).map(|parameter| {
            let Filled { local, alias, source, parameter: written, at, .. } = parameter;
            let name = &written.name;
            let alias = respanned(alias.clone(), *at);
            match written.borrowed() {
                Some(_) => quote_spanned!(*at=> let #local = #walk.argument::<#alias>(#name);),
                // For a type that depends on type parameters this trait alone says whether it can be filled.
                None if parameter.is_generic => {
                    let filled = parameter.as_parameter();
                    match written.source {
                        Source::Argument(_) => quote!(let #local = #filled::another(#walk, #name);),
                        _ => quote!(let #local = #filled::inject(#walk.call(), #name)?;),
                    }
                }
                None => {
                    let another = parameter.another();
                    let filled = quote_spanned!(*at=> <#alias as __rj::ResolverParameter<{ #source }>>::fill);
                    quote!(let #local = #filled(#walk, #another, #name)?;)
                }
            }
        });
        let locals = parameters.iter().map(|parameter| &parameter.local);
        let call = quote!(#function #turbofish);
        // What is wrong with the future (that it cannot move between threads, say) is told at the function's name.
        let span = Span::call_site().located_at(name.span());
        let self_argument = self.has_self.then(|| quote!(#walk.receiver::<#receiver>(),));
        let told = self.told();
        let call = quote_spanned!(span=> #call(#self_argument #(#locals),*));
        let call = if *is_async { resolve::awaited(parameters, &call, span) } else { call };
        let body = quote_spanned! {span=>
            __rj::Box::pin(async move {
                #resolves
                #(#fills)*
                #walk.enter::<Self>();
                let #value: #returned = #call;
                let #value = <#returned as __rj::Returned<{ #shape }>>::into_ask(#value);
                #walk.settle::<Self>(<_ as __rj::Made<{ #shared }>>::made(#value #told)).await
            })
        };
        quote! {
            fn run<'a>(
                #walk: &'a __rj::Walk<'a>,
            ) -> __rj::BoxFuture<'a, __rj::Result<__rj::Outcome<Self::Output>, __rj::Halt>> {
                #body
            }
        }
    }

    pub(super) fn is_generic(&self) -> bool {
        !self.generics.params.is_empty()
    }

    /// The type parameters of a call to the function.
    pub(super) fn turbofish(&self) -> Option<TokenStream> {
        let names = self.generics.params.iter().map(generics::name);
        self.is_generic().then(|| quote!(::<#(#names),*>))
    }
}
