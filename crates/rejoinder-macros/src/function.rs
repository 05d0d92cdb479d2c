use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Signature, Visibility,
    parse::{Parse, ParseStream},
};

/// A function whose body is nobody's business, least of all ours.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) signature: Signature,
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attrs: Attribute::parse_outer(input)?,
            vis: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, signature, body } = self;
        tokens.extend(quote!(#(#attrs)* #vis #signature #body));
    }
}
