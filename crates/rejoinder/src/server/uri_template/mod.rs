//! URI templates (RFC 6570) read backwards: from a URI to the values of its variables.
//!
//! `{x}` stands for one segment and `{x*}` for several, each of which is one when it is decoded too: `..` and a slash in
//! disguise (`%2F`) are none. `{+x}` and `{#x}` stand for anything; `{/x}` and `{.x}` bring their own mark. `{?a,b}` and,
//! where a query has begun, `{&a,b}` are query parameters in any order, each optional.

mod alike;
mod cut;
mod parse;

use std::borrow::Cow;

use cut::cut;

/// The values of variables, by their names.
type Values<'a> = Vec<(&'a str, String)>;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    parts: Vec<Part>,
    query: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, reach: Reach },
}

/// What a variable may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Segment,
    Segments,
    Anything,
}

impl UriTemplate {
    /// The names of its variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.in_path().chain(self.query.iter().map(String::as_str))
    }

    /// The names of those before the query.
    fn in_path(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// Whether the variable may be absent from a URI.
    pub(crate) fn is_optional(&self, variable: &str) -> bool {
        self.query.iter().any(|name| name == variable)
    }

    /// Whether a part of the query is written out, as in `?kind=a{&page}`.
    fn has_fixed_query(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Literal(text) if text.contains('?')))
    }

    /// The values of the variables, if the URI is one of this template's.
    pub(crate) fn matches(&self, uri: &str) -> Option<Values<'_>> {
        let (text, query) = self.without_query(uri)?;
        let (mut values, mut begin) = (Vec::new(), 0);
        for (part, end) in self.parts.iter().zip(cut(&self.parts, &text)?) {
            if let Part::Variable { name, reach } = part {
                values.push((name.as_str(), reach.value(&text[begin..end])?));
            }
            begin = end;
        }
        values.extend(query);
        Some(values)
    }

    /// The URI without the pairs of `{?..}` and `{&..}`, wherever in its query they stand, and their values.
    fn without_query<'a>(&self, uri: &'a str) -> Option<(Cow<'a, str>, Values<'_>)> {
        let Some((path, query)) = uri.split_once('?').filter(|_| !self.query.is_empty()) else {
            return Some((Cow::Borrowed(uri), Vec::new()));
        };
        let (mut values, mut others) = (Vec::new(), Vec::new());
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match self.query.iter().find(|known| *known == name) {
                None => others.push(pair),
                // A fragment is no part of a query.
                Some(_) if value.contains('#') => return None,
                Some(name) if values.iter().any(|(seen, _)| seen == name) => return None,
                Some(name) => values.push((name.as_str(), decode(value)?)),
            }
        }
        let text = if self.has_fixed_query() {
            Cow::Owned(format!("{path}?{}", others.join("&")))
        } else {
            others.iter().all(|pair| pair.is_empty()).then_some(Cow::Borrowed(path))?
        };
        Some((text, values))
    }
}

impl Reach {
    /// What a piece of a URI says, if it still stays within its reach when it is decoded.
    fn value(self, piece: &str) -> Option<String> {
        let is_segment = |text: &str| !matches!(text, "" | "." | "..") && !text.contains(['/', '\\']);
        let value = decode(piece)?;
        let stays = match self {
            Self::Segment => is_segment(&value),
            Self::Segments => piece.split('/').all(|piece| decode(piece).is_some_and(|text| is_segment(&text))),
            Self::Anything => true,
        };
        stays.then_some(value)
    }
}

/// Undoes percent-encoding; `None` if it is broken or not UTF-8.
fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            let hex = std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok()?;
            decoded.push(u8::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+'))?);
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        let template = UriTemplate::parse(template).expect("a good template");
        template.matches(uri).map(|values| values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_variable_is_one_segment() {
        assert_eq!(values("test://template/{id}/data", "test://template/123/data"), Some(vec![pair("id", "123")]));
        assert_eq!(values("test://template/{id}/data", "test://template/1/2/data"), None);
        assert_eq!(values("test://template/{id}/data", "test://template//data"), None);
        assert_eq!(values("test://{id}", "test://"), None);
    }

    #[test]
    fn plus_and_star_span_segments() {
        assert_eq!(values("files:///{+path}", "files:///a/b/c.txt"), Some(vec![pair("path", "a/b/c.txt")]));
        assert_eq!(values("files:///{path*}/raw", "files:///a/b/raw"), Some(vec![pair("path", "a/b")]));
        assert_eq!(values("files://{/path*}", "files:///a/b"), Some(vec![pair("path", "a/b")]));
    }

    #[test]
    fn a_segment_is_one_when_it_is_decoded_too() {
        for disguised in ["..", ".", "%2E%2E", "%2e.", "..%2F..%2Fetc%2Fpasswd", "a%2fb", "..\\etc", "a%5Cb", "%2Fetc"]
        {
            for template in ["files://{path}", "files://{path*}", "files://{a*}/x/{path}", "files://a{.path}"] {
                let uri = template.replace("{path}", disguised).replace("{path*}", disguised);
                let uri = uri.replace("{a*}", "a").replace("{.path}", &format!(".{disguised}"));
                assert_eq!(values(template, &uri), None, "{uri}");
            }
        }
        for outside in ["files:///etc/passwd", "files://a/../../etc", "files://a/%2E%2E/b", "files://a//b"] {
            assert_eq!(values("files://{path*}", outside), None, "{outside}");
        }
        for name in ["...", "a..b", ".profile", "a.txt", "%25"] {
            assert!(values("files://{path}", &format!("files://{name}")).is_some(), "{name}");
        }
    }

    #[test]
    fn plus_leaves_everything_to_the_author() {
        assert_eq!(values("files://{+path}", "files://..%2F..%2Fetc"), Some(vec![pair("path", "../../etc")]));
        assert_eq!(values("files://{+path*}", "files:///etc/../x"), Some(vec![pair("path", "/etc/../x")]));
    }

    #[test]
    fn a_uri_of_another_template_does_not_match() {
        assert_eq!(values("files://{path}", "notes://a"), None);
        assert_eq!(values("files://{path}", "file"), None);
        assert_eq!(values("files://{path}", ""), None);
        assert_eq!(values("{+anything}", "notes://a"), Some(vec![pair("anything", "notes://a")]));
    }

    #[test]
    fn several_variables_take_the_most_that_leaves_room() {
        assert_eq!(values("db://{table}-{id}", "db://a-b-7"), Some(vec![pair("table", "a-b"), pair("id", "7")]));
        assert_eq!(values("x:{a}{/b}", "x:1/2"), Some(vec![pair("a", "1"), pair("b", "2")]));
    }

    #[test]
    fn query_parameters_come_in_any_order_or_not_at_all() {
        let template = "search://all{?q,limit}";
        assert_eq!(values(template, "search://all"), Some(vec![]));
        assert_eq!(values(template, "search://all?limit=3&q=a%20b"), Some(vec![pair("limit", "3"), pair("q", "a b")]));
        assert_eq!(values(template, "search://all?other=3"), None);
        assert_eq!(values(template, "search://all?q=1&q=2"), None);
    }

    #[test]
    fn a_fragment_is_no_part_of_a_query() {
        for uri in ["search://all?q=1#top", "search://all?limit=3&q#top", "search://all?q=1&#top", "search://all#top"] {
            assert_eq!(values("search://all{?q,limit}", uri), None, "{uri}");
        }
        assert_eq!(values("db://rows?kind=a{&page}", "db://rows?kind=a&page=2#top"), None);
        assert_eq!(values("search://all{?q}", "search://all?q=%23top"), Some(vec![pair("q", "#top")]));
        for uri in ["files://a/b#top", "files://a?b", "files://a/b?c=d"] {
            assert_eq!(values("files://{path*}", uri), None, "{uri}");
        }
    }

    #[test]
    fn a_query_that_is_written_out_is_required() {
        let template = "db://rows?kind=a{&page,size}";
        assert_eq!(values(template, "db://rows?kind=a"), Some(vec![]));
        assert_eq!(values(template, "db://rows?kind=a&page=2"), Some(vec![pair("page", "2")]));
        assert_eq!(
            values(template, "db://rows?size=9&kind=a&page=2"),
            Some(vec![pair("size", "9"), pair("page", "2")])
        );
        for other in ["db://rows", "db://rows?page=2", "db://rows?kind=b&page=2", "db://rows?kind=a&x=1", "db://rows?"]
        {
            assert_eq!(values(template, other), None, "{other}");
        }
        let template = "db://rows?kind={kind}{&page}";
        assert_eq!(values(template, "db://rows?kind=a&page=2"), Some(vec![pair("kind", "a"), pair("page", "2")]));
        assert_eq!(values(template, "db://rows?kind=a&x=1"), None);
        assert_eq!(values("db://rows?{&page}", "db://rows?&page=2"), Some(vec![pair("page", "2")]));
        assert_eq!(values("db://rows{?kind}{&page}", "db://rows?page=2"), Some(vec![pair("page", "2")]));
    }

    #[test]
    fn percent_escapes_are_decoded_and_broken_ones_do_not_match() {
        assert_eq!(values("n://{name}", "n://%C3%BC%20x"), Some(vec![pair("name", "ü x")]));
        assert_eq!(values("n://{name}", "n://%C3"), None);
        assert_eq!(values("n://{name}", "n://%zz"), None);
        assert_eq!(values("n://{name}", "n://%+1"), None);
    }

    #[test]
    fn mistakes_are_named_with_their_remedy() {
        for (template, mistake) in [
            ("a://{b", "a `{` has no `}` after it: add one, or write `%7B` for the sign itself"),
            ("a://{b{c}}", "a `{` has no `}` after it: add one, or write `%7B` for the sign itself"),
            ("a://b}", "a `}` has no `{` before it: add one, or write `%7D` for the sign itself"),
            ("a://{}", "a variable has no name in `{}`: write one, such as `{id}`"),
            ("a://{b,}", "a variable has no name in `{b,}`: write one, such as `{id}`"),
            ("a://{b-c}", "a variable cannot be called `b-c`: use letters from a to z, digits and `_`"),
            ("a://{größe}", "a variable cannot be called `größe`: use letters from a to z, digits and `_`"),
            ("a://{b:3}", "`{b:3}` cuts a value off, and a URI does not tell the rest: leave out `:3` after `b`"),
            ("a://{b}/{b}", "the variable `b` is there twice: give one of them another name"),
            ("a://{b}{c}", "nothing separates `c` from the variable before it: put a sign between them, such as `/`"),
            ("a://{?b}/c", "`/c` comes after a `{?..}` or `{&..}`: these go to the end"),
            ("a://{?b}{#c}", "`{#c}` comes after a `{?..}` or `{&..}`: these go to the end"),
            ("a://b{;c}", "`{;c}` is not supported: write `{?c}`"),
            ("a://b{&c}", "no query has begun before `{&c}`: write `{?c}`"),
            ("a://b?c=1{?d}", "a query has begun before `{?d}`: write `{&d}`"),
            ("a://b?c=1{&c}", "the query has a value for `c` before `{&c}`: remove one of them"),
        ] {
            assert_eq!(UriTemplate::parse(template).expect_err("a bad template"), mistake, "{template}");
        }
    }
}
