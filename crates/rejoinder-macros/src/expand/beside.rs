use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Visibility;

use crate::{names, signature::Place};

/// The hidden type beside a function, and the way from there to the function.
pub(super) struct Beside {
    /// The type's name: that of the function, so that both are imported together.
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    /// Whose method the function is.
    pub(super) receiver: TokenStream,
    /// The path to the function.
    pub(super) function: TokenStream,
}

impl Beside {
    pub(super) fn new(place: &Place, name: &Ident, vis: &Visibility) -> Self {
        match place {
            Place::Free => {
                Self { ident: name.clone(), vis: vis.clone(), receiver: quote!(()), function: name.to_token_stream() }
            }
            Place::Block(ty) => Self {
                ident: twin_of_method(ty, name),
                vis: Visibility::Inherited,
                receiver: ty.clone(),
                function: quote!(<#ty>::#name),
            },
        }
    }
}

/// The name of the hidden type of a method.
pub(super) fn twin_of_method(ty: &TokenStream, method: &Ident) -> Ident {
    format_ident!("__rj_{}_{}", identify(ty), names::wire(method), span = method.span())
}

/// The identifiers of a type, as one.
fn identify(ty: &TokenStream) -> String {
    let text = ty.to_string();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    words.join("_")
}
