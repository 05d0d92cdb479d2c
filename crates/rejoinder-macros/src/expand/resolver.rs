//! `#[resolver]`: the hidden type beside the function, which is its place in the graph.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Attribute, GenericArgument, GenericParam, Generics, LitStr, PathArguments, PathSegment, ReturnType, Signature,
    Type, Visibility, WherePredicate, parse::Parse, parse_quote,
};

use super::{
    HiddenType, name_of,
    parameter::{self, Filled, refusals, resolve, take, with_resolvers},
};
use crate::{
    errors::{Errors, Extent},
    kind::Kind,
    names::{self, local},
    options::{Options, option},
    parameter::read_all,
    signature::{self, Place},
};

/// All that the expansion needs to know of a resolver.
pub(super) struct ResolverFunction {
    /// The function's name.
    pub(super) name: Ident,
    pub(super) hidden: HiddenType,
    pub(super) has_self: bool,
    is_async: bool,
    pub(super) parameters: Vec<Filled>,
    output: TokenStream,
    key: Option<LitStr>,
    cached: bool,
}

impl ResolverFunction {
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
        let cached = options.flag("cache", errors).is_none_or(|cached| cached.value);
        options.finish(errors);
        if let Some(key) = key.as_ref().filter(|key| key.value().is_empty()) {
            errors.at(key, "a key cannot be empty");
        }
        let before = errors.len();
        let has_self = signature::check(Kind::Resolver, place, signature, errors);
        let is_sound = errors.len() == before;
        let parameters = read_all(Kind::Resolver, signature, errors);
        let generics = bounded(&signature.generics, place);
        Self {
            name: signature.ident.clone(),
            has_self,
            is_async: signature.asyncness.is_some(),
            parameters: parameter::read(parameters, place, &generics),
            hidden: HiddenType::new(place, &signature.ident, vis, attrs, generics),
            output: match &signature.output {
                ReturnType::Type(_, ty) if is_sound => place.outside(ty.to_token_stream()),
                _ => quote!(()),
            },
            key,
            cached,
        }
    }

    /// The hidden type. After errors it only returns what it should.
    pub(super) fn expand(mut self, is_sound: bool) -> TokenStream {
        if !is_sound {
            self.parameters.clear();
        }
        let code = self.implementation(is_sound);
        self.hidden.with(&with_resolvers(&self.parameters, code))
    }

    fn implementation(&self, is_sound: bool) -> TokenStream {
        let Self { parameters, .. } = self;
        let ident = &self.hidden.ident;
        let declared = parameters.iter().map(Filled::declared);
        let ((returned, shape), generics) = (self.returned(), self.generics_of_shared());
        let (impl_generics, ty_generics, clause) = generics.split_for_impl();
        let output = Extent::of(&self.output).member(&returned, quote!(__rj::Returned<{ #shape }>), "Value");
        let (probes, node, instance, fits) = (self.probes(), self.node(), self.instance(), self.fits());
        let (check, run) = (self.check(), self.run(is_sound));
        quote! {
            #(#declared)*
            #probes
            #node
            #check

            #[automatically_derived]
            impl #impl_generics __rj::Resolver for #ident #ty_generics #clause {
                type Output = #output;

                fn instance() -> &'static __rj::Instance {
                    #instance
                }

                #run
            }

            #fits
        }
    }

    /// What it returns: the type, and its shape.
    ///
    /// Constants cannot look at what depends on type parameters; there, the way it is written counts.
    fn returned(&self) -> (TokenStream, TokenStream) {
        if mentions(&self.output, &self.hidden.generics) {
            return (self.output.clone(), shape_as_written(&self.output));
        }
        (quote!(__RjReturned), quote!(__RJ_SHAPE))
    }

    /// What its return type is, where constants can look at it.
    fn probes(&self) -> Option<TokenStream> {
        let output = &self.output;
        (!mentions(output, &self.hidden.generics)).then(|| {
            quote! {
                type __RjReturned = #output;
                const __RJ_SHAPE: __rj::std::primitive::u8 =
                    __rj::Shape::<__RjReturned>::OF + __rj::Shape::<__RjReturned>::ASK_IN_RESULT;
            }
        })
    }

    /// Its type parameters. Where its value depends on them, it is a resolver only for those with which the value can be
    /// shared.
    fn generics_of_shared(&self) -> Generics {
        let mut generics = self.hidden.generics.clone();
        if mentions(&self.output, &generics) {
            let (returned, shape) = self.returned();
            let value = quote!(<#returned as __rj::Returned<{ #shape }>>::Value);
            let bound = parse_quote!(#value: __rj::std::marker::Send + __rj::std::marker::Sync + 'static);
            generics.make_where_clause().predicates.push(bound);
        }
        generics
    }

    /// Its place in the graph: a static value, so that the checks can walk a cycle of them.
    fn node(&self) -> TokenStream {
        let HiddenType { ident, generics, .. } = &self.hidden;
        let ((_, shape), returns, cached) = (self.returned(), names::pretty(&self.output), self.cached);
        let (name, key) = (names::wire(&self.name), option(self.key.as_ref()));
        let has_plain_name = *ident == self.name && generics.params.is_empty();
        let arguments = self.parameters.iter().filter_map(|parameter| parameter.node_argument(false));
        let below = self.parameters.iter().filter_map(|parameter| Some(parameter.resolver.as_ref()?.node()));
        // With the span of the function's own name, the line is that of the function.
        let at = quote_spanned!(ident.span()=> __rj::std::concat!(__rj::std::file!(), ":", __rj::std::line!()));
        let constants = constants(generics);
        let (params, names) = (generics.params.iter().map(declared), generics.params.iter().map(name_of));
        quote! {
            static __RJ_NODE: __rj::Node = {
                #constants
                __rj::Node {
                    id: __rj::Node::id(__rj::std::module_path!(), #name, #at),
                    name: #name,
                    key: #key,
                    module: __rj::std::module_path!(),
                    has_plain_name: #has_plain_name,
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
        let HiddenType { function, generics, .. } = &self.hidden;
        let turbofish = self.turbofish();
        let edges = self.parameters.iter().filter_map(Filled::edge);
        let arguments = self.parameters.iter().filter_map(|parameter| parameter.node_argument(true));
        let arguments =
            if generics.params.is_empty() { quote!(__RJ_NODE.arguments) } else { quote!(&[#(#arguments),*]) };
        let form = if mentions(&self.output, generics) {
            quote!(__rj::None)
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
        let HiddenType { ident, generics, .. } = &self.hidden;
        let (_, ty_generics, clause) = generics.split_for_impl();
        let (params, predicates) = (generics.params.iter(), clause.iter().flat_map(|clause| &clause.predicates));
        let bounds = self.parameters.iter().map(Filled::fits);
        let fits = quote_spanned!(ident.span()=> __rj::FitsIn<__RjItem>);
        quote! {
            #[automatically_derived]
            impl<__RjItem, #(#params),*> #fits for #ident #ty_generics
            where #(#predicates,)* #(#bounds),* {}
        }
    }

    /// The check of its parameters, of what it returns, and for a cycle.
    fn check(&self) -> TokenStream {
        let check = Ident::new("__RJ_CHECK", Span::call_site());
        let refusals = refusals(&check, &self.parameters);
        let returned = Extent::of(&self.output).call(quote!(#check.returned), &TokenStream::new());
        quote! {
            const _: () = {
                const #check: __rj::Check = __RJ_NODE.check();
                #returned;
                #refusals
            };
        }
    }

    fn run(&self, is_sound: bool) -> TokenStream {
        let Self { name, parameters, is_async, .. } = self;
        let HiddenType { receiver, function, .. } = &self.hidden;
        let (returned, shape) = self.returned();
        let turbofish = self.turbofish();
        let walk = local("walk");
        let supplies = parameters.iter().filter_map(|parameter| parameter.supply(&quote!(#walk.call())));
        let resolves = resolve(parameters, &walk).map(|(pattern, future)| quote!(let #pattern = #future;));
        let takes = take(parameters);
        let fills = parameters.iter().filter_map(|parameter| parameter.fill_shared(&walk));
        let locals = parameters.iter().map(|parameter| &parameter.local);
        // What is wrong with the future (that it is not `Send`, say) is reported at the function's name.
        let span = Span::call_site().located_at(name.span());
        let self_argument = self.has_self.then(|| quote!(#walk.receiver::<#receiver>(),));
        let wait = is_async.then(|| quote!(.await));
        let into_ask = Extent::of(&self.output).member(&returned, quote!(__rj::Returned<{ #shape }>), "into_ask");
        let body = if is_sound {
            quote_spanned! {span=>
                __rj::Box::pin(async move {
                    #(#supplies)*
                    #resolves
                    #takes
                    #(#fills)*
                    #walk.enter::<Self>();
                    #walk.settle::<Self>(#into_ask(#function #turbofish(#self_argument #(#locals),*)#wait)).await
                })
            }
        } else {
            quote!(__rj::std::unreachable!("it does not compile"))
        };
        quote! {
            #[allow(unused_variables, reason = "not every resolver needs it")]
            fn run<'a>(
                #walk: &'a __rj::Walk<'a>,
            ) -> __rj::BoxFuture<'a, __rj::Result<__rj::Outcome<Self::Output>, __rj::Halt>> {
                #body
            }
        }
    }

    /// The type parameters of a call to the function.
    fn turbofish(&self) -> Option<TokenStream> {
        let params = &self.hidden.generics.params;
        let names = params.iter().map(name_of);
        (!params.is_empty()).then(|| quote!(::<#(#names),*>))
    }
}

/// Whether something depends on type or constant parameters.
pub(super) fn mentions(tokens: &TokenStream, generics: &Generics) -> bool {
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
fn bounded(generics: &Generics, place: &Place) -> Generics {
    let mut generics = generics.clone();
    // A named lifetime is a mistake, which is reported elsewhere.
    let params = generics.params.into_iter().filter(|param| !matches!(param, GenericParam::Lifetime(_)));
    generics.params = params.map(|param| outside(param, place)).collect();
    if let Some(clause) = &mut generics.where_clause {
        clause.predicates = clause.predicates.iter().map(|bound| outside(bound.clone(), place)).collect();
    }
    let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
    if !types.is_empty() {
        let bounds = types.iter().map(|ty| -> WherePredicate { parse_quote!(#ty: 'static) });
        generics.make_where_clause().predicates.extend(bounds);
    }
    generics
}

/// The same with `Self` spelled out. What cannot be parsed again is left to the compiler.
fn outside<T: Parse + ToTokens>(bound: T, place: &Place) -> T {
    syn::parse2(place.outside(bound.to_token_stream())).unwrap_or(bound)
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
