use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// What a doc comment says, as an expression; `None` if there is none.
///
/// Lines stay lines, as schemars keeps them, so that lists and paragraphs survive.
pub(crate) fn description(attrs: &[Attribute]) -> Option<TokenStream> {
    let lines: Vec<&Expr> = attrs.iter().filter_map(doc).collect();
    let texts: Option<Vec<String>> = lines.iter().map(|line| text(line)).collect();
    match texts {
        Some(texts) => {
            let text = lay_out(&texts.join("\n"));
            (!text.is_empty()).then(|| quote!(#text))
        }
        // `#[doc = include_str!("..")]`: only the compiler knows the text.
        None => Some(quote!(::std::concat!(#(#lines, "\n"),*))),
    }
}

/// The value of a doc attribute; `#[doc(hidden)]` and its like have none.
pub(crate) fn doc(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

/// The text of a literal.
pub(crate) fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Takes the one space after `///` away, and what is empty at the ends.
fn lay_out(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn written(attrs: &[Attribute]) -> String {
        description(attrs).map(|text| text.to_string()).unwrap_or_default()
    }

    #[test]
    fn paragraphs_and_indents_stay() {
        let attrs: Vec<Attribute> = vec![
            parse_quote!(#[doc = " One sentence"]),
            parse_quote!(#[doc = " on two lines."]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = " * a"]),
            parse_quote!(#[doc = "   * b  "]),
            parse_quote!(#[doc(hidden)]),
        ];
        assert_eq!(written(&attrs), r#""One sentence\non two lines.\n\n* a\n  * b""#);
    }

    #[test]
    fn no_comment_is_no_description() {
        assert_eq!(written(&[parse_quote!(#[inline])]), "");
    }

    #[test]
    fn an_included_text_is_left_to_the_compiler() {
        let attrs: [Attribute; 1] = [parse_quote!(#[doc = include_str!("a.md")])];
        assert_eq!(written(&attrs), quote!(::std::concat!(include_str!("a.md"), "\n")).to_string());
    }
}
