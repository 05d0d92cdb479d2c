use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{PathArguments, Type};

/// The path to `rejoinder`, unless the author gives another one with `crate = ".."`.
pub(crate) fn rejoinder() -> TokenStream {
    quote!(::rejoinder)
}

/// Imports `rejoinder`, and what the macros use of it, for the code that they write.
pub(crate) fn imports(rejoinder: &TokenStream) -> TokenStream {
    quote! {
        use #rejoinder as __rejoinder;
        use #rejoinder::__private as __rj;
    }
}

/// A name that cannot clash with a user's name, even when another macro writes the function.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(&format!("__rj_{name}"), Span::mixed_site())
}

/// An identifier as the wire says it: without `r#`.
pub(crate) fn wire(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

/// The words of a name, each with a capital: `DateTime` for `date-time`.
pub(crate) fn pascal(name: &str) -> String {
    let capitalised = |word: &str| {
        let first = word.chars().next();
        first.map(|first| first.to_uppercase().chain(word.chars().skip(1)).collect::<String>())
    };
    name.split(['_', '-']).filter_map(capitalised).collect()
}

/// Whether it can be part of a header's name.
pub(crate) fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Writes tokens about as a person would.
pub(crate) fn pretty(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut pretty = String::with_capacity(text.len());
    for piece in text.split(' ') {
        let after = ["<", "&", "(", "[", "::"].iter().any(|end| pretty.ends_with(end));
        let before = ["<", ">", ",", ";", ")", "]", "::"].iter().any(|start| piece.starts_with(start));
        if !(pretty.is_empty() || after || before) {
            pretty.push(' ');
        }
        pretty.push_str(piece);
    }
    pretty
}

/// The same tokens with `Self` spelled out, to stand outside the `impl` block.
pub(crate) fn without_self(tokens: TokenStream, self_type: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let replace = |(index, tree): (usize, &TokenTree)| match tree.clone() {
        TokenTree::Ident(ident) if ident == "Self" => {
            let at = |mut tree: TokenTree| {
                tree.set_span(ident.span());
                tree
            };
            let goes_on = match trees.get(index + 1) {
                Some(TokenTree::Punct(punct)) => punct.as_char() == ':' && punct.spacing() == Spacing::Joint,
                Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::Bracket,
                _ => false,
            };
            let self_type = if goes_on { in_expressions(self_type) } else { self_type.clone() };
            self_type.into_iter().map(at).collect()
        }
        TokenTree::Group(group) => {
            let mut new = proc_macro2::Group::new(group.delimiter(), without_self(group.stream(), self_type));
            new.set_span(group.span());
            TokenStream::from(TokenTree::Group(new))
        }
        other => other.into(),
    };
    trees.iter().enumerate().flat_map(replace).collect()
}

/// A type as an expression begins with it: `Shop::<u32>`.
fn in_expressions(ty: &TokenStream) -> TokenStream {
    let Ok(Type::Path(mut path)) = syn::parse2(ty.clone()) else { return quote!(<#ty>) };
    for segment in &mut path.path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = Some(Default::default());
        }
    }
    path.to_token_stream()
}

/// Names that other libraries have for our options.
const ELSEWHERE: [(&str, &str); 13] = [
    ("desc", "description"),
    ("doc", "description"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("ge", "min"),
    ("le", "max"),
    ("gt", "exclusive_min"),
    ("lt", "exclusive_max"),
    ("regex", "pattern"),
    ("examples", "example"),
    ("len", "min_length"),
    ("mime", "mime_type"),
    ("range", "min"),
];

/// The one of `known` that was probably meant.
pub(crate) fn similar<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let ours = ELSEWHERE.iter().find(|(other, _)| *other == name).map_or(name, |(_, ours)| *ours);
    if let Some(known) = known.iter().find(|known| **known == ours) {
        return Some(known);
    }
    let closest = known.iter().map(|known| (strsim::levenshtein(name, known), *known)).min()?;
    (closest.0 <= 1 + name.len() / 4).then_some(closest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_similar_name_is_found() {
        let known = ["name", "title", "description", "read_only"];
        assert_eq!(similar("titel", &known), Some("title"));
        assert_eq!(similar("readonly", &known), Some("read_only"));
        assert_eq!(similar("desc", &known), Some("description"));
        assert_eq!(similar("colour", &known), None);
    }

    #[test]
    fn self_is_spelled_out_as_its_place_asks_for() {
        let outside = |tokens| pretty(without_self(tokens, &quote!(Shop<Vec<u32>>)));
        assert_eq!(outside(quote!(Option<Self>)), "Option<Shop<Vec<u32>>>");
        assert_eq!(outside(quote!(T: Into<Self>)), "T : Into<Shop<Vec<u32>>>");
        assert_eq!(outside(quote!(Self: Into<T>)), "Shop<Vec<u32>> : Into<T>");
        assert_eq!(outside(quote!([Self::MOST])), "[Shop::<Vec<u32>>::MOST]");
        assert_eq!(outside(quote!(Self(1))), "Shop::<Vec<u32>> (1)");
        assert_eq!(pretty(without_self(quote!(Self::MOST), &quote!(shop::Shop))), "shop::Shop::MOST");
        assert_eq!(pretty(without_self(quote!(Self::MOST), &quote!(dyn Shop))), "<dyn Shop>::MOST");
    }

    #[test]
    fn types_are_written_as_people_write_them() {
        assert_eq!(pretty(quote!(Vec<Option<&'static str>>)), "Vec<Option<&'static str>>");
        assert_eq!(
            pretty(quote!(std::collections::HashMap<String, [u8; 4]>)),
            "std::collections::HashMap<String, [u8; 4]>"
        );
        assert_eq!(pretty(quote!((A, B))), "(A, B)");
    }
}
