//! The options in the parentheses of an attribute: `name = "..", read_only, icon(..)`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path, Token,
    parse::{Parse, ParseStream, Parser},
    parse_quote_spanned,
    punctuated::Punctuated,
    spanned::Spanned,
};

use crate::{errors::Errors, names};

/// The options of one attribute, from which each reader takes its own.
pub(crate) struct Options {
    /// As our sentences call the attribute: `#[tool]`.
    attribute: String,
    known: Vec<&'static str>,
    left: Vec<Meta>,
}

impl Options {
    /// Reads them.
    pub(crate) fn parse(attribute: &str, known: &[&'static str], tokens: TokenStream, errors: &mut Errors) -> Self {
        Self::parse_after(attribute, known, |_| Ok(()), tokens, errors).1
    }

    /// Reads them, after something else that comes first.
    pub(crate) fn parse_after<T>(
        attribute: &str,
        known: &[&'static str],
        first: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
        tokens: TokenStream,
        errors: &mut Errors,
    ) -> (Option<T>, Self) {
        let parser = |input: ParseStream<'_>| {
            let first = first(input)?;
            let options = Punctuated::<Meta, Token![,]>::parse_terminated(input).map_err(|error| {
                let example = known.first().copied().unwrap_or_default();
                let mut text = format!("{attribute} takes options such as `{example} = ..`: {error}");
                if text.ends_with("keyword `enum`") {
                    text += "; for a choice of texts, write an enum that derives `Deserialize` and `JsonSchema`";
                }
                syn::Error::new(error.span(), text)
            })?;
            Ok((first, options))
        };
        let (first, left) = errors.check(parser.parse2(tokens)).unzip();
        let left = left.map(|left| left.into_iter().collect()).unwrap_or_default();
        (first, Self { attribute: attribute.to_owned(), known: known.to_vec(), left })
    }

    fn take(&mut self, name: &str) -> Option<Meta> {
        debug_assert!(self.known.contains(&name), "`{name}` is not in the list of {}", self.attribute);
        let index = self.left.iter().position(|meta| meta.path().is_ident(name))?;
        Some(self.left.remove(index))
    }

    /// `name = <expression>`.
    pub(crate) fn expression(&mut self, name: &str, example: &str, errors: &mut Errors) -> Option<Expr> {
        self.entry(name, example, errors).map(|(_, value)| value)
    }

    /// `name = <expression>`, with the name as it was written, where errors about the two together are reported.
    pub(crate) fn entry(&mut self, name: &str, example: &str, errors: &mut Errors) -> Option<(Ident, Expr)> {
        match self.take(name)? {
            Meta::NameValue(meta) => Some((meta.path.get_ident()?.clone(), meta.value)),
            other => {
                errors.at(other, format!("`{name}` needs a value: `{name} = {example}`"));
                None
            }
        }
    }

    /// `name = <expression>`, or `name` alone for what `otherwise` makes of it.
    pub(crate) fn expression_or(
        &mut self,
        name: &str,
        otherwise: impl FnOnce(&Path) -> Expr,
        errors: &mut Errors,
    ) -> Option<Expr> {
        match self.left.iter().position(|meta| matches!(meta, Meta::Path(path) if path.is_ident(name))) {
            Some(index) => Some(otherwise(self.left.remove(index).path())),
            None => self.expression(name, "..", errors),
        }
    }

    /// `name`, `name = true` or `name = false`.
    pub(crate) fn flag(&mut self, name: &str, errors: &mut Errors) -> Option<Expr> {
        self.expression_or(name, |path| parse_quote_spanned!(path.span()=> true), errors)
    }

    /// `name = ..`, where the value must be known now: a string, an identifier, a path.
    pub(crate) fn value<T: Parse>(&mut self, name: &str, example: &str, errors: &mut Errors) -> Option<T> {
        let value = self.expression(name, example, errors)?;
        let read = syn::parse2(value.to_token_stream()).ok();
        if read.is_none() {
            errors.at(value, format!("write `{name} = {example}`"));
        }
        read
    }

    /// `crate = "path"`: where `rejoinder` is, for those who renamed it or use it through another crate.
    pub(crate) fn rejoinder(&mut self, errors: &mut Errors) -> TokenStream {
        let given = self
            .value::<LitStr>("crate", "\"path::to::rejoinder\"", errors)
            .and_then(|path| errors.check(path.parse::<Path>()));
        given.map_or_else(names::rejoinder, ToTokens::into_token_stream)
    }

    /// `name`, or `name(..)` with the tokens in its parentheses.
    pub(crate) fn flag_or_list(&mut self, name: &str, errors: &mut Errors) -> Option<TokenStream> {
        match self.take(name)? {
            Meta::Path(_) => Some(TokenStream::new()),
            Meta::List(list) => Some(list.tokens),
            other => {
                errors.at(other, format!("write `{name}`, or `{name}(..)` with its options"));
                None
            }
        }
    }

    /// Each `name(..)`, with the tokens in its parentheses.
    pub(crate) fn lists(&mut self, name: &str, errors: &mut Errors) -> Vec<TokenStream> {
        let mut lists = Vec::new();
        while let Some(meta) = self.take(name) {
            match meta {
                Meta::List(list) => lists.push(list.tokens),
                other => errors.at(other, format!("write `{name}(..)`")),
            }
        }
        lists
    }

    /// Refuses the options that were not read.
    pub(crate) fn finish(self, errors: &mut Errors) {
        for meta in &self.left {
            let name = names::pretty(meta.path());
            if self.known.contains(&name.as_str()) {
                let instead =
                    if name == "enabled" { ": name all gates in one list, `enabled = [first, second]`" } else { "" };
                errors.at(meta.path(), format!("`{name}` is given twice{instead}"));
                continue;
            }
            if self.attribute == "`#[arg]`" && ["description", "desc", "doc"].contains(&&*name) {
                errors.at(meta.path(), "the doc comment of a parameter is its description: write `/// ..` before it");
                continue;
            }
            let meant = names::similar(&name, &self.known).map(|meant| format!("did you mean `{meant}`? "));
            let meant = meant.unwrap_or_default();
            let known = self.known.join("`, `");
            let attribute = &self.attribute;
            errors.at(meta.path(), format!("{attribute} has no option `{name}`; {meant}the options are `{known}`"));
        }
    }
}

/// Whether a flag is set, where that must be known now.
pub(crate) fn is_set(flag: Option<&Expr>) -> bool {
    matches!(flag, Some(Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. })) if flag.value)
}

/// The tokens in the parentheses of an attribute, which may have none.
pub(crate) fn tokens_of(attr: &Attribute, example: &str, errors: &mut Errors) -> TokenStream {
    match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(meta) => {
            errors.at(meta, format!("write `{example}`"));
            TokenStream::new()
        }
    }
}

/// The expression of an `Option`.
pub(crate) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::std::option::Option::Some(#value)),
        None => quote!(::std::option::Option::None),
    }
}

/// `name: Some(value),` where there is a value.
pub(crate) fn some_field<T: ToTokens>((name, value): (&str, Option<T>)) -> Option<TokenStream> {
    let (name, value) = (Ident::new(name, Span::call_site()), option(Some(value?)));
    Some(quote!(#name: #value,))
}

/// A struct of `rejoinder` that has a name, and these fields.
pub(crate) fn with_fields(ty: &TokenStream, name: &str, fields: TokenStream) -> TokenStream {
    let named = quote!(#ty::new(#name));
    if fields.is_empty() { named } else { quote!(#ty { #fields ..#named }) }
}
