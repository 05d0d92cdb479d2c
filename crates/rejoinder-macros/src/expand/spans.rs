//! Where the compiler shows what is wrong: with the spans of what the author wrote it tells of that alone, and not of the
//! macro.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

/// What the author wrote, from its first token to its last.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(super) start: Span,
    pub(crate) end: Span,
}

impl Extent {
    pub(crate) fn of(written: &impl ToTokens) -> Self {
        let tokens = written.to_token_stream();
        let end = tokens.clone().into_iter().last().map_or_else(Span::call_site, |tree| match tree {
            TokenTree::Group(group) => group.span_close(),
            other => other.span(),
        });
        Self { start: tokens.span(), end }
    }

    /// `<ty as of>::name`: where `ty` is no `of`, all of it is underlined, and where a bound on this fails, too.
    pub(crate) fn member(self, ty: &impl ToTokens, of: &TokenStream, name: &str) -> TokenStream {
        let (open, name) = (quote_spanned!(self.start=> <), Ident::new(name, self.end));
        quote!(#open #ty as #of>::#name)
    }

    /// A call that fails while the program compiles, with this text.
    pub(super) fn refuse(self, why: &impl ToTokens) -> TokenStream {
        let refuse = respanned(quote!(__rj::refuse), self.start);
        quote_spanned!(self.end=> #refuse(#why))
    }
}

/// The same tokens, all at one place.
pub(super) fn respanned(tokens: TokenStream, at: Span) -> TokenStream {
    let set = |tree: TokenTree| match tree {
        TokenTree::Group(group) => {
            let mut group = Group::new(group.delimiter(), respanned(group.stream(), at));
            group.set_span(at);
            TokenTree::Group(group)
        }
        mut other => {
            other.set_span(at);
            other
        }
    };
    tokens.into_iter().map(set).collect()
}
