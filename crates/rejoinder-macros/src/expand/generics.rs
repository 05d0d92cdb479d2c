//! Type and constant parameters of a resolver, which constants cannot look at.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    GenericArgument, GenericParam, Generics, PathArguments, PathSegment, Type, WherePredicate, parse::Parse,
    parse_quote,
};

use crate::signature::Place;

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

/// Whether something is a type that belongs to a type parameter, as `T::Id` does.
pub(super) fn projects(tokens: &TokenStream, generics: &Generics) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().any(|(i, tree)| match tree {
        TokenTree::Ident(ident) if ident == "as" => true,
        TokenTree::Ident(_) => {
            let is_path = matches!(trees.get(i + 1), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
            is_path && mentions(&tree.to_token_stream(), generics)
        }
        TokenTree::Group(group) => projects(&group.stream(), generics),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Something for each parameter to be, where there are none: in a static value, which cannot be generic.
pub(super) fn stand_ins(generics: &Generics) -> TokenStream {
    let stand_ins = generics.params.iter().map(|param| match param {
        GenericParam::Type(param) => {
            let ident = &param.ident;
            quote!(#[allow(dead_code, reason = "not all of them are used")] type #ident = __rj::Ungiven;)
        }
        GenericParam::Const(param) => {
            let (ident, ty) = (&param.ident, &param.ty);
            let value = match &*ty.to_token_stream().to_string() {
                "bool" => quote!(false),
                "char" => quote!('?'),
                _ => quote!(0),
            };
            quote!(#[allow(dead_code, reason = "not all of them are used")] const #ident: #ty = #value;)
        }
        GenericParam::Lifetime(_) => TokenStream::new(),
    });
    stand_ins.collect()
}

/// The type parameters, each of which outlives everything: a resolver's value may be kept.
pub(super) fn bounded(generics: &Generics, place: &Place) -> Generics {
    let mut generics = generics.clone();
    // A named lifetime is a mistake, which has been told.
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

/// The same with `Self` spelled out. What cannot be read again is left to the compiler's words.
fn outside<T: Parse + ToTokens>(bound: T, place: &Place) -> T {
    syn::parse2(place.outside(bound.to_token_stream())).unwrap_or(bound)
}

/// Whether there are parameters, and all of them are types.
pub(super) fn types_only(generics: &Generics) -> bool {
    !generics.params.is_empty() && generics.params.iter().all(|param| matches!(param, GenericParam::Type(_)))
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

/// A type or constant parameter, where it is declared, without its bounds.
pub(super) fn declared(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Const(param) => {
            let (ident, ty) = (&param.ident, &param.ty);
            quote!(const #ident: #ty)
        }
        other => name(other),
    }
}

/// A type or constant parameter, where it is used.
pub(super) fn name(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}
