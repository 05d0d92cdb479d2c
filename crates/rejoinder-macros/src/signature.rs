//! What a function must not be.

use proc_macro2::TokenStream;
use syn::{FnArg, GenericParam, ReceiverKind, Safety, Signature};

use crate::{errors::Errors, kind::Kind, names, types};

/// Where a function stands.
pub(crate) enum Place {
    /// In a module.
    Free,
    /// In an `impl` block of this type, under `#[handlers]`.
    Block(TokenStream),
}

impl Place {
    /// What is written there, as it is written outside the `impl` block.
    pub(crate) fn outside(&self, tokens: TokenStream) -> TokenStream {
        match self {
            Self::Free => tokens,
            Self::Block(ty) => names::without_self(tokens, ty),
        }
    }
}

/// Checks everything but the parameters. Tells whether the function has a receiver.
pub(crate) fn check(kind: Kind, place: &Place, signature: &Signature, errors: &mut Errors) -> bool {
    let word = kind.word();
    if let Some(constness) = &signature.constness {
        errors.at(constness, format!("a {word} is called while the server runs: remove `const`"));
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        errors.at(unsafety, format!("a {word} is called with whatever a client sends: it cannot be `unsafe`"));
    }
    if let Some(abi) = &signature.abi {
        errors.at(abi, format!("a {word} is called from Rust: remove `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(variadic, format!("a {word} has a fixed list of parameters: take a `Vec`"));
    }
    check_generics(kind, signature, errors);
    types::check_returned(kind, &signature.output, errors);
    check_receiver(word, place, signature, errors)
}

fn check_generics(kind: Kind, signature: &Signature, errors: &mut Errors) {
    let word = kind.word();
    let generics = &signature.generics;
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if kind == Kind::Resolver && !generics.params.iter().any(is_lifetime) {
        // `#[resolve(load::<User>)]`.
    } else if generics.params.is_empty() {
        if let Some(clause) = &generics.where_clause {
            errors.at(clause, format!("a {word} is not generic, so it has no `where`: remove it"));
        }
    } else if kind == Kind::Resolver {
        errors.at(&generics.params, "a resolver needs no named lifetimes: write `&str` and remove them");
    } else if generics.params.iter().all(is_lifetime) {
        errors.at(&generics.params, format!("a {word} has no lifetimes, because it owns its parameters: remove them"));
    } else {
        errors.at(
            &generics.params,
            format!("a {word} cannot be generic, because its schema must be known: write the types out"),
        );
    }
}

fn check_receiver(word: &str, place: &Place, signature: &Signature, errors: &mut Errors) -> bool {
    let Some(FnArg::Receiver(receiver)) = signature.inputs.first() else { return false };
    let shared = matches!(&receiver.kind, ReceiverKind::Reference(_, None, None));
    if matches!(place, Place::Free) {
        errors.at(receiver, format!("a {word} with `self` needs `#[handlers]` on the `impl` block around it"));
    } else if !shared {
        let why = "because calls run at the same time: keep what changes in a `Mutex` or an atomic";
        errors.at(receiver, format!("a {word} takes `&self`, {why}"));
    }
    true
}
