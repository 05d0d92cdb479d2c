//! Type and constant parameters of a resolver, which constants cannot look at.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, GenericParam, Generics, PathArguments, PathSegment, Type, WherePredicate, parse_quote};

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

/// The type parameters, each of which outlives everything: a resolver's value may be kept.
pub(super) fn bounded(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    // A named lifetime is a mistake, which has been told.
    generics.params = generics.params.into_iter().filter(|param| !matches!(param, GenericParam::Lifetime(_))).collect();
    let types: Vec<Ident> = generics.type_params().map(|param| param.ident.clone()).collect();
    if !types.is_empty() {
        let bounds = types.iter().map(|ty| -> WherePredicate { parse_quote!(#ty: 'static) });
        generics.make_where_clause().predicates.extend(bounds);
    }
    generics
}

/// The shape of a return type by how it is written: an alias of `Result` must be called so.
pub(super) fn shape_as_written(output: &TokenStream) -> TokenStream {
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

/// A type or constant parameter, where it is used.
pub(super) fn name(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}
