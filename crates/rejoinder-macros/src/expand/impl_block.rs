use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{ImplItem, ImplItemFn, ItemImpl, Meta};

use super::{free::TWO_KINDS, parameter::Filled, resolver::Resolver, twin::Twin};
use crate::{errors::Errors, kind::Kind, names, options::Options, signature::Place};

/// `#[handlers]` on an `impl` block.
pub(crate) fn impl_block(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut options = Options::parse("`#[handlers]`", &["tools", "prompts", "resources"], options, &mut errors);
    let given = Kind::ITEMS
        .map(|kind| options.ident(&kind.method().to_string(), &format!("more_{}", kind.method()), &mut errors));
    options.finish(&mut errors);
    let first: Option<TokenTree> = item.clone().into_iter().next();
    let mut block: ItemImpl = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            if item.clone().into_iter().any(|tree| matches!(tree, TokenTree::Ident(word) if word == "impl")) {
                errors.at_span(error.span(), error);
            } else {
                errors.at(first, "`#[handlers]` goes on an `impl` block");
            }
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let can_expand = check(&block, &mut errors);
    let ty = block.self_ty.to_token_stream();
    let place = Place::Block(ty.clone());
    let (mut twins, mut resolvers) = (Vec::new(), Vec::new());
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some((kind, options)) = take_attribute(method, &mut errors) else { continue };
        let ImplItemFn { attrs, vis, sig, .. } = method;
        if kind == Kind::Resolver {
            resolvers.push(Resolver::read(&place, options, attrs, vis, sig, &mut errors));
            continue;
        }
        twins.push((kind, Twin::read(kind, &place, options, attrs, vis, sig, &mut errors)));
    }
    let filled = twins.iter().flat_map(|(_, twin)| twin.parameters());
    let filled = filled.chain(resolvers.iter().flat_map(Resolver::parameters));
    filled.for_each(|filled| check_resolver(filled, &block, &resolvers, &mut errors));
    for (kind, given) in Kind::ITEMS.iter().zip(&given) {
        if let Some(name) = given.as_ref().filter(|_| !twins.iter().any(|(other, _)| other == kind)) {
            errors.at(name, format!("this block has no {}: remove the option", kind.method()));
        }
    }
    let sound = errors.is_empty();
    let hidden = twins.iter().filter(|_| can_expand).map(|(_, twin)| twin.expand(sound));
    let mistakes = (!sound).then(TokenStream::new);
    let resolvers = resolvers.iter().filter(|_| can_expand).map(|resolver| resolver.expand(mistakes.as_ref()));
    let methods = Kind::ITEMS.into_iter().zip(given).map(|(kind, given)| {
        let twins: Vec<_> =
            twins.iter().filter(|(other, _)| *other == kind && can_expand).map(|(_, twin)| twin).collect();
        if twins.is_empty() { TokenStream::new() } else { method(kind, given, &ty, &twins) }
    });
    let errors = errors.into_tokens();
    quote!(#block #(#resolvers)* #(#hidden)* #(#methods)* #errors)
}

/// Whether hidden types can be written for the functions of this block.
fn check(block: &ItemImpl, errors: &mut Errors) -> bool {
    if let Some((path, _)) = &block.trait_ {
        errors.at(path, "`#[handlers]` goes on the `impl` block of a type, not of a trait");
        return false;
    }
    if !block.generics.params.is_empty() {
        errors.at(&block.generics.params, "`#[handlers]` does not support generic types yet: write the types out");
        return false;
    }
    true
}

/// Refuses `#[resolve(Self::name)]` where that is a function of the block, and no resolver.
fn check_resolver(filled: &Filled, block: &ItemImpl, resolvers: &[Resolver], errors: &mut Errors) {
    let Some(path) = filled.parameter.resolver() else { return };
    let [first, name] = &*path.segments.iter().collect::<Vec<_>>() else { return };
    let is_function = block.items.iter().any(|item| matches!(item, ImplItem::Fn(f) if f.sig.ident == name.ident));
    if first.ident == "Self" && is_function && !resolvers.iter().any(|resolver| resolver.is_named(&name.ident)) {
        let name = &name.ident;
        errors.at(path, format!("`Self::{name}` is not a resolver: write `#[resolver]` before the function"));
    }
}

/// Takes `#[tool]`, `#[prompt]`, `#[resource(..)]` or `#[resolver]` off a function.
fn take_attribute(method: &mut ImplItemFn, errors: &mut Errors) -> Option<(Kind, TokenStream)> {
    let attrs = std::mem::take(&mut method.attrs);
    let mut found = None;
    for attr in attrs {
        let Some(kind) = Kind::of_attribute(attr.path()) else {
            method.attrs.push(attr);
            continue;
        };
        if found.is_some() {
            errors.at(&attr, TWO_KINDS);
            continue;
        }
        let options = match attr.meta {
            Meta::List(list) => list.tokens,
            Meta::Path(_) => TokenStream::new(),
            Meta::NameValue(meta) => {
                errors.at(&meta, format!("write `#[{}(..)]`", kind.word()));
                TokenStream::new()
            }
        };
        found = Some((kind, options));
    }
    found
}

/// `tools()`, `prompts()` or `resources()`, or what the author called it.
fn method(kind: Kind, given: Option<Ident>, ty: &TokenStream, twins: &[&Twin]) -> TokenStream {
    let (item, method, private) = (kind.item(), given.unwrap_or_else(|| kind.method()), names::rejoinder());
    let doc = format!(" Every {} of this block, on this value.", kind.word());
    let each = twins.iter().map(|Twin { ident, cfgs, .. }| {
        quote!(#(#cfgs)* #private::__private::#item::of::<#ident>(#private::__private::Arc::clone(self)))
    });
    quote! {
        #[automatically_derived]
        #[allow(deprecated, reason = "the type may be")]
        impl #ty {
            #[doc = #doc]
            #[must_use]
            #[allow(unreachable_pub, reason = "the type may be less public than its functions")]
            pub fn #method(self: &#private::__private::Arc<Self>) -> #private::__private::Vec<#private::__private::#item> {
                #private::__private::Vec::from([#(#each),*])
            }
        }
    }
}
