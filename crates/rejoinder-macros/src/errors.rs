//! Mistakes, and the places where the compiler shows them.

use std::fmt::Display;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Error, spanned::Spanned};

/// Every mistake that was found, to be reported together.
#[derive(Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    /// A mistake in these tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(Error::new_spanned(tokens, message));
    }

    /// Keeps the value, or the mistake.
    pub(crate) fn check<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// The mistakes, what the author wrote, and what the macro adds to it: without that, each use would be another mistake.
    pub(crate) fn or(&self, written: &impl ToTokens, added: TokenStream) -> TokenStream {
        let errors = self.0.iter().map(Error::to_compile_error);
        quote!(#(#errors)* #written #added)
    }
}

/// What the author wrote, from its first token to its last. Code with these spans is reported as if it stood there.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) start: Span,
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

    /// `<ty as of>::name`: where `ty` is not an `of`, all of the extent is underlined.
    ///
    /// Compilers differ in which part of the path they underline, so all of it is where the author wrote the type.
    pub(crate) fn member(self, ty: &impl ToTokens, of: TokenStream, name: &str) -> TokenStream {
        self.member_of(ty, respanned(of, self.start), name)
    }

    /// The same, where the tokens of the trait have their own places.
    pub(crate) fn member_of(self, ty: &impl ToTokens, of: TokenStream, name: &str) -> TokenStream {
        let mut of: Vec<TokenTree> = of.into_iter().collect();
        if let Some(last) = of.last_mut() {
            last.set_span(self.end);
        }
        let (close, name) = (quote_spanned!(self.end=> >::), Ident::new(name, self.end));
        quote_spanned!(self.start=> <#ty as #(#of)* #close #name)
    }

    /// A call: where it panics while the program compiles, all of the extent is underlined.
    pub(crate) fn call(self, function: TokenStream, arguments: &impl ToTokens) -> TokenStream {
        let function = respanned(function, self.start);
        quote_spanned!(self.end=> #function(#arguments))
    }
}

/// The same tokens, all at one place.
fn respanned(tokens: TokenStream, at: Span) -> TokenStream {
    let set = |tree: TokenTree| match tree {
        TokenTree::Group(group) => {
            let mut group = Group::new(group.delimiter(), respanned(group.stream(), at));
            group.set_span(at);
            TokenTree::Group(group)
        }
        // Its span says which crate it is.
        TokenTree::Ident(ident) if ident == "$crate" => TokenTree::Ident(ident),
        mut other => {
            other.set_span(at);
            other
        }
    };
    tokens.into_iter().map(set).collect()
}
