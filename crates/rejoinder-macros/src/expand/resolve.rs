//! `#[resolve(function)]`: the graph that it makes, and how a parameter gets its value.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::parameter::{Filled, nested};
use crate::{
    kind::Kind,
    names::{local, pretty},
    parameter::Source,
};

impl Filled {
    /// It and its resolver, in the graph.
    pub(super) fn edge(&self) -> Option<TokenStream> {
        let (name, resolver) = (&self.parameter.name, self.resolver.as_ref()?);
        let written = pretty(&self.parameter.ty);
        let at = Span::call_site().located_at(resolver.span());
        Some(quote_spanned! {at=>
            __rj::Edge {
                parameter: #name,
                written: #written,
                node: <#resolver>::__node(),
                instance: <#resolver as __rj::Resolver>::instance,
            }
        })
    }

    /// It in the graph, where no resolver fills it.
    pub(super) fn node_argument(&self) -> Option<TokenStream> {
        let (name, source) = (&self.parameter.name, &self.source);
        let written = pretty(&self.parameter.ty);
        self.resolver.is_none().then(|| {
            quote! {
                __rj::NodeArgument {
                    name: #name,
                    written: #written,
                    is_argument: #source == __rj::source::ARGUMENT,
                }
            }
        })
    }

    /// How it is found where only its name is known, if no resolver fills it.
    pub(super) fn by_name(&self) -> Option<TokenStream> {
        let parameter = self.as_parameter();
        self.resolver.is_none().then(|| quote!(#parameter::by_name))
    }

    /// For a resolver, whose questions belong to the call: it cannot make rounds by hand.
    pub(super) fn check_by_hand(&self) -> Option<TokenStream> {
        let alias = &self.alias;
        let message =
            "a resolver makes no rounds by hand: return `Ask<T>`, and take what others ask with `#[resolve(..)]`";
        (self.resolver.is_none() && !self.is_generic).then(|| {
            let refuse = self.extent().refuse(&message);
            quote! {
                const _: () = if __rj::Probe::<#alias>::BY_HAND {
                    #refuse
                };
            }
        })
    }

    /// For an item: whoever takes its rounds also makes them.
    pub(super) fn check_rounds(&self) -> Option<TokenStream> {
        let alias = &self.alias;
        let message = "`Rounds` is for functions that make their rounds by hand, and return `Reply<T>`: return one, or ask \
                       with `Context::ask` and remove it";
        matches!(self.parameter.source, Source::Type | Source::Injected).then(|| {
            let refuse = self.extent().refuse(&message);
            quote! {
                const _: () = if __rj::Probe::<#alias>::BY_HAND && !__rj::Probe::<__RjReturned>::BY_HAND {
                    #refuse
                };
            }
        })
    }

    /// Its name, as a type.
    pub(super) fn name_type(&self) -> TokenStream {
        let chars = self.parameter.name.chars();
        quote!(__rj::Name<(#(__rj::C<#chars>,)*)>)
    }

    /// The variable that holds its resolver's outcome.
    fn settled(&self) -> Ident {
        format_ident!("{}_settled", self.local)
    }
}

/// The item's place in the graph.
pub(super) fn item(kind: Kind, name: &str, parameters: &[Filled]) -> TokenStream {
    let kind = kind.word();
    let arguments = parameters.iter().filter_map(Filled::node_argument);
    let edges = parameters.iter().filter_map(Filled::edge);
    let aliases = parameters.iter().filter(|parameter| parameter.resolver.is_none()).map(|parameter| &parameter.alias);
    quote! {
        static __RJ_ITEM: __rj::ItemNode<'static> = __rj::ItemNode {
            kind: #kind,
            name: #name,
            arguments: &[#(#arguments),*],
            edges: &[#(#edges),*],
            by_hand: __rj::Probe::<__RjReturned>::BY_HAND #(|| __rj::Probe::<#aliases>::BY_HAND)*,
        };
    }
}

/// The checks of all that the item needs.
pub(super) fn checks(ident: &Ident, parameters: &[Filled]) -> TokenStream {
    let has = parameters.iter().filter(|parameter| parameter.resolver.is_none()).map(|parameter| {
        let (name, alias) = (parameter.name_type(), &parameter.alias);
        quote!(impl __rj::HasArgument<#name> for #ident { type Type = #alias; })
    });
    let resolved =
        parameters.iter().filter_map(|parameter| Some((parameter.named.as_ref()?, parameter.resolver.as_ref()?)));
    let checks = resolved.enumerate().map(|(index, (named, resolver))| {
        let refuse = named.extent.refuse(&quote!(__RJ_CHECK.report.as_str()));
        let sound = named.extent.member(resolver, &quote!(__rj::Sound<{ __RJ_CHECK.naming() }>), "Type");
        quote! {
            const _: () = if __RJ_CHECK.failed(#index) {
                #refuse
            };
            const _: () = <#sound as __rj::Fits<#ident>>::FITS;
        }
    });
    quote! {
        const __RJ_CHECK: __rj::ItemCheck = __rj::check_item(&__RJ_ITEM);
        #(#has)*
        #(#checks)*
    }
}

/// What the item needs to have been provided, with what its resolvers need.
pub(super) fn needs_below(own: &TokenStream) -> TokenStream {
    quote!(__rj::needs_below(#own, __RJ_ITEM.edges))
}

/// Fills the parameters of an item that resolvers fill, then takes its arguments apart.
pub(super) fn for_item(parameters: &[Filled], arguments: &Ident, receiver: &Ident, call: &Ident) -> TokenStream {
    let (walk, joined) = (local("walk"), local("joined"));
    let [keys, by_name, settled, halt] = ["keys", "by_name", "settled", "halt"].map(local);
    let (pattern, join) = join(parameters, &walk);
    let take = take(parameters, &quote!(.pass()?));
    let slots = parameters.iter().map(|parameter| match parameter.resolver {
        Some(_) => quote!(_),
        None => {
            let local = &parameter.local;
            quote!(#local)
        }
    });
    let slots = nested(Span::call_site(), slots);
    quote! {
        let #joined = {
            static __RJ_KEYS: __rj::OnceLock<__rj::Keys> = __rj::OnceLock::new();
            let #keys = __RJ_KEYS.get_or_init(|| __rj::Keys::of(__RJ_ITEM.edges));
            let #by_name = __rj::FunctionArguments { params: <Self as __rj::ReadParams>::PARAMS, values: &#arguments };
            let #walk = __rj::Walk::new(&#call, &#by_name, &*#receiver, #keys);
            let #joined = #join;
            #joined
        };
        let #pattern = match #joined {
            __rj::Ok(#settled) => #settled,
            __rj::Err(#halt) => return __rj::Err(#halt),
        };
        #take
        let #slots = #arguments;
    }
}

/// Fills the parameters of a resolver that other resolvers fill.
pub(super) fn for_resolver(parameters: &[Filled], walk: &Ident) -> TokenStream {
    if parameters.iter().all(|parameter| parameter.resolver.is_none()) {
        return TokenStream::new();
    }
    let (pattern, join) = join(parameters, walk);
    let take = take(parameters, &quote!(.pass()?));
    quote!(let #pattern = #join?; #take)
}

/// The future of all resolvers at once, and the pattern of what comes out of it unless one of them ends the call.
fn join(parameters: &[Filled], walk: &Ident) -> (TokenStream, TokenStream) {
    let (outcome, is_optional) = (local("outcome"), local("is_optional"));
    let each = parameters.iter().filter_map(|parameter| {
        let Filled { ty, at, .. } = parameter;
        let (settled, name, resolver) = (parameter.settled(), &parameter.parameter.name, parameter.resolver.as_ref()?);
        let get = quote_spanned!(Span::call_site().located_at(resolver.span())=> #walk.get::<#resolver>());
        let wants = quote_spanned!(*at=> __rj::Wants::<#ty, _>::of(&#outcome));
        let future = quote! {
            async {
                let #outcome = #get.await;
                let #is_optional = #wants.is_optional();
                __rj::unless_over(#outcome, #is_optional, #name)
            }
        };
        Some((quote!(#settled), future))
    });
    let each: Vec<_> = each.collect();
    let joined = each.into_iter().rev().reduce(|(patterns, futures), (pattern, future)| {
        (quote!((#pattern, #patterns)), quote!(__rj::try_join(#future, #futures)))
    });
    let (pattern, future) = joined.unwrap_or_else(|| (quote!(()), quote!(__rj::std::future::ready(__rj::Ok(())))));
    (pattern, quote!(#future.await))
}

/// Takes the values out of the outcomes; what stopped any of them ends it here.
fn take(parameters: &[Filled], end: &TokenStream) -> TokenStream {
    let halts = local("halts");
    let resolved: Vec<&Filled> = parameters.iter().filter(|parameter| parameter.resolver.is_some()).collect();
    let locals: Vec<&Ident> = resolved.iter().map(|parameter| &parameter.local).collect();
    let takes = resolved.iter().map(|parameter| {
        let Filled { local, ty, parameter: written, at, .. } = parameter;
        let (name, settled, naming) = (&written.name, parameter.settled(), parameter.naming());
        let resolver = parameter.resolver.as_ref();
        let (extent, another, outcome) = (parameter.extent(), parameter.another(), self::local("outcome"));
        let taken = extent.member(ty, &quote!(__rj::Taken<{ #naming }>), "Type");
        let from_outcome = quote!(__rj::FromOutcome<'_, <#resolver as __rj::Resolver>::Output>);
        let from_outcome = extent.member(&taken, &from_outcome, "from_outcome");
        quote_spanned! {*at=>
            let #local = #halts.take(&#settled, |#outcome| #from_outcome(#outcome, #another, #name));
        }
    });
    // Only here, where nothing is waited for any more: a mistaken parameter may be what no future can hold.
    let from_taken = resolved.iter().map(|parameter| {
        let Filled { local, ty, at, .. } = parameter;
        let naming = parameter.naming();
        quote_spanned!(*at=> let #local = <#ty as __rj::Taken<{ #naming }>>::from_taken(#local);)
    });
    quote! {
        let mut #halts = __rj::Halts::default();
        #(#takes)*
        #halts #end;
        let (#(__rj::Some(#locals),)*) = (#(#locals,)*) else {
            __rj::std::unreachable!("what stopped a resolver ended the call")
        };
        #(#from_taken)*
    }
}

/// Waits for a function that takes these.
pub(super) fn awaited(parameters: &[Filled], call: &TokenStream, at: Span) -> TokenStream {
    let namings = parameters.iter().filter_map(|parameter| parameter.named.as_ref()?.naming());
    let sound: Vec<_> = namings.map(|naming| quote!(#naming == __rj::naming::SOUND)).collect();
    if sound.is_empty() {
        return quote_spanned!(at=> #call.await);
    }
    quote_spanned!(at=> <_ as __rj::Awaited<{ #(#sound)&&* }>>::awaited(#call).await)
}
