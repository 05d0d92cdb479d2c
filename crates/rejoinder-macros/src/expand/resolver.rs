//! `#[resolver]`: the hidden type beside the function, which is its place in the graph.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    GenericArgument, GenericParam, Generics, LitStr, PathArguments, PathSegment, Type, WherePredicate, parse_quote,
};

use super::{HiddenType, name_of};
use crate::{
    errors::{Errors, Extent},
    names::{self, local},
    options::{Options, option},
    parameter::FunctionParameter,
    signature::Place,
};

/// What the options of `#[resolver]` say.
pub(super) struct ResolverOptions {
    key: Option<LitStr>,
    cached: TokenStream,
}

impl ResolverOptions {
    pub(super) fn read(options: &mut Options, errors: &mut Errors) -> Self {
        let key = options.value::<LitStr>("key", "\"..\"", errors);
        if let Some(key) = key.as_ref().filter(|key| key.value().is_empty()) {
            errors.at(key, "a key cannot be empty");
        }
        if let Some(key) = key.as_ref().filter(|key| key.value().contains('#')) {
            errors.at(key, "a key cannot contain `#`, which numbers resolvers of the same name");
        }
        Self { key, cached: options.flag("cache", errors).map_or_else(|| quote!(true), ToTokens::into_token_stream) }
    }
}

impl HiddenType {
    /// A resolver.
    pub(super) fn resolver(&self, options: &ResolverOptions) -> TokenStream {
        let Self { ident, output, .. } = self;
        let ((returned, shape), generics) = (self.returned(), self.generics_of_shared());
        let (impl_generics, ty_generics, clause) = generics.split_for_impl();
        let extent = Extent::of(output);
        let value = extent.member(&returned, quote!(__rj::Returned<{ #shape }>), "Value");
        let shared = (!mentions(&self.output, &self.generics)).then(|| {
            let shared = extent.member(&value, quote!(__rj::IsShared), "Value");
            let asked = extent.member(&returned, quote!(__rj::IntoAsk<{ #shape }>), "Asked");
            quote!(struct __RjMade(#asked, #shared);)
        });
        // Where the type is less public than the resolver, the compiler shows the declaration.
        let output = Ident::new("Output", Span::call_site().located_at(extent.end));
        let output = quote_spanned!(Span::call_site().located_at(extent.start)=> type #output = #value;);
        let (probes, node, instance, fits) = (self.probes(), self.resolver_node(options), self.instance(), self.fits());
        let (check, run) = (self.resolver_check(), self.run_resolver());
        self.with(quote! {
            #probes
            #shared
            #node
            #check

            #[automatically_derived]
            impl #impl_generics __rejoinder::Resolver for #ident #ty_generics #clause {
                #output

                fn instance() -> &'static __rj::Instance {
                    #instance
                }

                #run
            }

            #fits
        })
    }

    /// What it returns: the type, and its shape.
    ///
    /// Constant evaluation does not know what depends on type parameters; there, the way it is written counts.
    fn returned(&self) -> (TokenStream, TokenStream) {
        if mentions(&self.output, &self.generics) {
            return (self.output.clone(), shape_as_written(&self.output));
        }
        (quote!(__RjReturned), quote!(__RJ_SHAPE))
    }

    /// What its return type is, where constant evaluation knows it.
    fn probes(&self) -> Option<TokenStream> {
        let output = &self.output;
        (!mentions(output, &self.generics)).then(|| {
            quote! {
                type __RjReturned = #output;
                const __RJ_SHAPE: ::std::primitive::u8 =
                    __rj::Shape::<__RjReturned>::OF + __rj::Shape::<__RjReturned>::ASK_IN_RESULT;
            }
        })
    }

    /// Its type parameters. Where its value depends on them, it is a resolver only for those with which the value can be
    /// shared.
    fn generics_of_shared(&self) -> Generics {
        let mut generics = self.generics.clone();
        if mentions(&self.output, &generics) {
            let (returned, shape) = self.returned();
            let value = quote!(<#returned as __rj::Returned<{ #shape }>>::Value);
            let bound = parse_quote!(#value: ::std::marker::Send + ::std::marker::Sync + 'static);
            generics.make_where_clause().predicates.push(bound);
        }
        generics
    }

    /// Its place in the graph: a static value, so that the checks can walk a cycle of them.
    fn resolver_node(&self, options: &ResolverOptions) -> TokenStream {
        let Self { ident, name, generics, parameters, output, .. } = self;
        let ((_, shape), returns, cached) = (self.returned(), names::pretty(output), &options.cached);
        let (name, key) = (names::wire(name), option(options.key.as_ref()));
        let arguments = parameters.iter().filter_map(|parameter| parameter.node_argument(false));
        let below = parameters.iter().filter_map(|parameter| Some(parameter.resolver()?.node()));
        // With the span of the function's own name, the line is that of the function.
        let at = quote_spanned!(ident.span()=> ::std::concat!(::std::file!(), ":", ::std::line!()));
        let (constants, numbered) = (constants(generics), numbered(&name));
        let (params, names) = (generics.params.iter().map(declared), generics.params.iter().map(name_of));
        quote! {
            static __RJ_NODE: __rj::Node = {
                #constants
                __rj::Node {
                    id: __rj::Node::id(::std::module_path!(), #numbered, #at),
                    name: #name,
                    key: #key,
                    at: #at,
                    arguments: &[#(#arguments),*],
                    below: &[#(#below),*],
                    returns: #returns,
                    asks: __rj::shape::asks(#shape),
                    cached: #cached,
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
    fn instance(&self) -> TokenStream {
        let Self { function, generics, parameters, output, .. } = self;
        let names = generics.params.iter().map(name_of);
        let turbofish = (!generics.params.is_empty()).then(|| quote!(::<#(#names),*>));
        let edges = parameters.iter().filter_map(FunctionParameter::edge);
        let arguments = parameters.iter().filter_map(|parameter| parameter.node_argument(true));
        let arguments =
            if generics.params.is_empty() { quote!(__RJ_NODE.arguments) } else { quote!(&[#(#arguments),*]) };
        let form = if mentions(output, generics) {
            quote!(::std::option::Option::None)
        } else {
            quote!(__rj::Shape::<__RjReturned>::FORM)
        };
        quote! {
            const {
                &__rj::Instance {
                    node: &__RJ_NODE,
                    arguments: #arguments,
                    edges: &[#(#edges),*],
                    form: #form,
                    types: __rj::Instance::types::<Self, _>(&#function #turbofish),
                }
            }
        }
    }

    /// What an item must have for the resolver to find its arguments.
    fn fits(&self) -> TokenStream {
        let Self { ident, generics, .. } = self;
        let (_, ty_generics, clause) = generics.split_for_impl();
        let (params, predicates) = (generics.params.iter(), clause.iter().flat_map(|clause| &clause.predicates));
        let bounds = self.parameters.iter().map(FunctionParameter::fits);
        let fits = quote_spanned!(ident.span()=> __rj::FitsIn<__RjItem, true>);
        quote! {
            #[automatically_derived]
            impl<__RjItem, #(#params),*> #fits for #ident #ty_generics
            where #(#predicates,)* #(#bounds),* {}
        }
    }

    /// The check of its parameters, of what it returns, and for a cycle.
    fn resolver_check(&self) -> TokenStream {
        let check = Ident::new("__RJ_CHECK", Span::call_site());
        let refusals = self.refusals(&check);
        quote! {
            const _: () = {
                const #check: __rj::Check = __RJ_NODE.check();
                #refusals
            };
        }
    }

    fn run_resolver(&self) -> TokenStream {
        let Self { receiver, output, .. } = self;
        let (returned, shape) = self.returned();
        let walk = local("walk");
        let filled = self.fill_within(&walk);
        let into_ask = Extent::of(output).member(&returned, quote!(__rj::IntoAsk<{ #shape }>), "into_ask");
        let called = self.call(&quote!(#walk.receiver::<#receiver>()));
        let body = quote_spanned! { self.span()=>
            ::std::boxed::Box::pin(async move {
                #filled
                #walk.enter::<Self>();
                #walk.settle::<Self>(#into_ask(#called)).await
            })
        };
        quote! {
            #[allow(unused_variables, reason = "not every resolver needs it")]
            fn run<'a>(
                #walk: &'a __rj::Walk<'a>,
            ) -> __rejoinder::BoxFuture<'a, ::std::result::Result<__rejoinder::Outcome<Self::Output>, __rj::Halt>> {
                #body
            }
        }
    }
}

/// The name with the number of resolvers of this name that were written before: two that one call of a `macro_rules!` macro
/// declares have the same module and the same line.
fn numbered(name: &str) -> String {
    static WRITTEN: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let number = written.entry(name.to_owned()).or_insert(0);
    *number += 1;
    format!("{name}#{number}")
}

/// Whether something depends on type or constant parameters.
pub(crate) fn mentions(tokens: &TokenStream, generics: &Generics) -> bool {
    let named = |ident: &Ident| {
        generics.params.iter().any(|param| match param {
            GenericParam::Type(param) => param.ident == *ident,
            GenericParam::Const(param) => param.ident == *ident,
            GenericParam::Lifetime(_) => false,
        })
    };
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => named(&ident),
        TokenTree::Group(group) => mentions(&group.stream(), generics),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// A value for each constant parameter, in a static value, which cannot be generic.
fn constants(generics: &Generics) -> TokenStream {
    let constants = generics.const_params().map(|param| {
        let (ident, ty) = (&param.ident, &param.ty);
        let value = match &*ty.to_token_stream().to_string() {
            "bool" => quote!(false),
            "char" => quote!('?'),
            _ => quote!(0),
        };
        quote!(#[allow(dead_code, reason = "not all of them are used")] const #ident: #ty = #value;)
    });
    constants.collect()
}

/// The type parameters, each of which is `'static`: a resolver's value may be kept.
pub(super) fn bounded(generics: &Generics, place: &Place) -> Generics {
    let mut generics = generics.clone();
    // A named lifetime is a mistake, which is reported elsewhere.
    let params = generics.params.into_iter().filter(|param| !matches!(param, GenericParam::Lifetime(_)));
    generics.params = params.map(|param| place.outside_parsed(param)).collect();
    if let Some(clause) = &mut generics.where_clause {
        clause.predicates = clause.predicates.iter().map(|bound| place.outside_parsed(bound.clone())).collect();
    }
    let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
    if !types.is_empty() {
        let bounds = types.iter().map(|ty| -> WherePredicate { parse_quote!(#ty: 'static) });
        generics.make_where_clause().predicates.extend(bounds);
    }
    generics
}

/// The shape of a return type by how it is written: an alias of `Result` must be called so.
fn shape_as_written(output: &TokenStream) -> TokenStream {
    let Ok(ty) = syn::parse2::<Type>(output.clone()) else { return quote!(__rj::shape::VALUE) };
    match (named(&ty, "Ask"), named(&ty, "Result").map(first_argument)) {
        (Some(_), _) => quote!(__rj::shape::ASK),
        (None, Some(Some(ok))) if named(&ok, "Ask").is_some() => quote!(__rj::shape::RESULT_OF_ASK),
        (None, Some(_)) => quote!(__rj::shape::RESULT),
        (None, None) => quote!(__rj::shape::VALUE),
    }
}

fn named(ty: &Type, name: &str) -> Option<PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last().filter(|last| last.ident == name).cloned(),
        _ => None,
    }
}

fn first_argument(segment: PathSegment) -> Option<Type> {
    let PathArguments::AngleBracketed(arguments) = segment.arguments else { return None };
    arguments.args.into_iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// A type or constant parameter, where it is declared, without its bounds.
pub(super) fn declared(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Const(param) => {
            let (ident, ty) = (&param.ident, &param.ty);
            quote!(const #ident: #ty)
        }
        other => name_of(other),
    }
}
