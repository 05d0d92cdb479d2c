//! URI templates (RFC 6570), matched against a URI to get the values of their variables. Crates for RFC 6570 only expand
//! templates; here a template becomes a regular expression, which takes linear time.
//!
//! `{x}` matches one segment and `{x*}` several. A segment must be one after decoding too: `..` and an encoded slash
//! (`%2F`) do not match. `{+x}` and `{#x}` match anything; `{/x}` and `{.x}` begin with their own sign. `{?a,b}` and, after
//! a query has begun, `{&a,b}` are optional query parameters in any order.

use std::borrow::Cow;

use regex_lite::Regex;

/// The values of variables, by their names.
pub(super) type Variables = Vec<(String, String)>;

/// A parsed template.
#[derive(Debug)]
pub(super) struct UriTemplate {
    /// Has a group for each variable of the path.
    regex: Regex,
    parts: TemplateParts,
}

/// What has been read of a template.
#[derive(Debug, Default)]
struct TemplateParts {
    /// The regular expression.
    pattern: String,
    path: Vec<(String, Reach)>,
    /// The variables in `{?..}` and `{&..}`.
    query: Vec<String>,
    /// Whether the text outside of expressions has begun a query.
    has_fixed_query: bool,
}

/// What a variable matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Segment,
    Segments,
    Anything,
}

impl UriTemplate {
    /// Parses a template; the error says what is wrong and what to write instead.
    pub(super) fn parse(template: &str) -> Result<Self, String> {
        let mut parts = TemplateParts::default();
        let mut pieces = template.split('{');
        parts.literal(pieces.next().unwrap_or_default())?;
        for piece in pieces {
            let (expression, literal) = piece
                .split_once('}')
                .ok_or("`{` has no matching `}`: add one, or write `%7B` for the character itself")?;
            parts.expression(expression)?;
            parts.literal(literal)?;
        }
        let regex = Regex::new(&format!("^{}$", parts.pattern)).map_err(|error| error.to_string())?;
        Ok(Self { regex, parts })
    }

    /// The names of all variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.variables().map(String::as_str)
    }

    /// Whether the variable may be absent from a URI.
    pub(super) fn is_optional(&self, variable: &str) -> bool {
        self.parts.query.iter().any(|name| name == variable)
    }

    /// Whether the two templates differ only in the names of variables in the path, and in the order of those in the query.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.parts, &other.parts);
        ours.pattern == theirs.pattern
            && ours.query.len() == theirs.query.len()
            && ours.query.iter().all(|name| theirs.query.contains(name))
    }

    /// The values of the variables, if the URI matches.
    pub(super) fn matches(&self, uri: &str) -> Option<Variables> {
        let (path, query) = self.without_query(uri)?;
        let groups = self.regex.captures(&path)?;
        let in_path = self.parts.path.iter().zip(groups.iter().skip(1));
        let values = in_path.map(|((name, reach), group)| Some((name.clone(), reach.decode(group?.as_str())?)));
        values.chain(query.into_iter().map(Some)).collect()
    }

    /// The URI without the pairs that `{?..}` and `{&..}` name, and the values of these.
    fn without_query<'a>(&self, uri: &'a str) -> Option<(Cow<'a, str>, Variables)> {
        let Some((path, query)) = uri.split_once('?').filter(|_| !self.parts.query.is_empty()) else {
            return Some((Cow::Borrowed(uri), Vec::new()));
        };
        let (mut values, mut others) = (Vec::new(), Vec::new());
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match self.parts.query.iter().find(|known| *known == name) {
                None => others.push(pair),
                // A fragment does not belong to the query.
                Some(_) if value.contains('#') => return None,
                Some(name) if values.iter().any(|(seen, _)| seen == name) => return None,
                Some(name) => values.push((name.clone(), decode(value)?)),
            }
        }
        // A fixed part of the query, as in `?kind=a{&page}`.
        let text = if self.parts.has_fixed_query {
            Cow::Owned(format!("{path}?{}", others.join("&")))
        } else {
            others.iter().all(|pair| pair.is_empty()).then_some(Cow::Borrowed(path))?
        };
        Some((text, values))
    }
}

impl Reach {
    /// The value that a piece of a URI encodes, if that too is within reach.
    fn decode(self, piece: &str) -> Option<String> {
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

/// Decodes percent-encoding; `None` if it is malformed or not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut decoded = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let hex = piece.get(..2).filter(|hex| !hex.starts_with('+'))?;
        decoded.push(u8::from_str_radix(hex, 16).ok()?);
        decoded.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(decoded).ok()
}

impl TemplateParts {
    fn variables(&self) -> impl Iterator<Item = &String> {
        self.path.iter().map(|(name, _)| name).chain(&self.query)
    }

    fn literal(&mut self, text: &str) -> Result<(), String> {
        if text.contains('}') {
            return Err("`}` has no matching `{`: add one, or write `%7D` for the character itself".to_owned());
        }
        if !text.is_empty() && !self.query.is_empty() {
            return Err(format!("`{text}` follows `{{?..}}` or `{{&..}}`, which must come last"));
        }
        self.has_fixed_query |= text.contains('?');
        self.pattern.push_str(&regex_lite::escape(text));
        Ok(())
    }

    /// Reads what is between braces: perhaps an operator, and then names.
    fn expression(&mut self, expression: &str) -> Result<(), String> {
        let operator = expression.chars().next().filter(|first| "+#./?&".contains(*first));
        let names = &expression[operator.map_or(0, char::len_utf8)..];
        let of_query = if self.has_fixed_query || !self.query.is_empty() { '&' } else { '?' };
        match operator {
            Some('?' | '&') if operator != Some(of_query) => {
                return Err(format!("`{{{expression}}}`: one `?` begins the query; write `{{{of_query}{names}}}`"));
            }
            Some('?' | '&') => {}
            _ if !self.query.is_empty() => {
                return Err(format!("`{{{expression}}}` follows `{{?..}}` or `{{&..}}`, which must come last"));
            }
            _ => {}
        }
        for (at, name) in names.split(',').enumerate() {
            let (name, is_exploded) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
                return Err(format!(
                    "`{name}` in `{{{expression}}}` is not a variable name: use letters from a to z, digits and `_`"
                ));
            }
            if self.variables().any(|known| known == name) {
                return Err(format!("there are two variables `{name}`: rename one"));
            }
            match (operator, at) {
                (Some('?' | '&'), _) => {
                    self.query.push(name.to_owned());
                    continue;
                }
                (Some(mark @ '#'), 0) | (Some(mark @ ('/' | '.')), _) => self.literal(&mark.to_string())?,
                (_, 0) if self.pattern.ends_with("+)") => {
                    return Err(format!(
                        "no character separates `{name}` from the variable before it: put one between them, such as `/`"
                    ));
                }
                (_, 0) => {}
                _ => self.literal(",")?,
            }
            let (reach, group) = match operator {
                Some('+' | '#') => (Reach::Anything, "((?s:.)+)"),
                _ if is_exploded => (Reach::Segments, "([^?#]+)"),
                _ if self.has_fixed_query => (Reach::Segment, "([^/?#&]+)"),
                _ => (Reach::Segment, "([^/?#]+)"),
            };
            self.pattern.push_str(group);
            self.path.push((name.to_owned(), reach));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        let template = UriTemplate::parse(template).expect("a good template");
        template.matches(uri)
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
    fn the_time_is_linear_in_the_uri() {
        let started = std::time::Instant::now();
        let template = "x:{+a}-{+b}-{+c}-{+d}-{+e}-{+f}!";
        assert_eq!(values(template, &format!("x:{}", "-a".repeat(4000))), None);
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
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
    fn a_fragment_does_not_belong_to_the_query() {
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
    fn errors_say_what_to_write_instead() {
        for (template, mistake) in [
            ("a://{b", "`{` has no matching `}`: add one, or write `%7B` for the character itself"),
            ("a://{b{c}}", "`{` has no matching `}`: add one, or write `%7B` for the character itself"),
            ("a://b}", "`}` has no matching `{`: add one, or write `%7D` for the character itself"),
            ("a://{}", "`` in `{}` is not a variable name: use letters from a to z, digits and `_`"),
            ("a://{b,}", "`` in `{b,}` is not a variable name: use letters from a to z, digits and `_`"),
            ("a://{größe}", "`größe` in `{größe}` is not a variable name: use letters from a to z, digits and `_`"),
            ("a://{b:3}", "`b:3` in `{b:3}` is not a variable name: use letters from a to z, digits and `_`"),
            ("a://b{;c}", "`;c` in `{;c}` is not a variable name: use letters from a to z, digits and `_`"),
            ("a://{b}/{b}", "there are two variables `b`: rename one"),
            ("a://{b}{c}", "no character separates `c` from the variable before it: put one between them, such as `/`"),
            ("a://{?b}/c", "`/c` follows `{?..}` or `{&..}`, which must come last"),
            ("a://{?b}{#c}", "`{#c}` follows `{?..}` or `{&..}`, which must come last"),
            ("a://b{&c}", "`{&c}`: one `?` begins the query; write `{?c}`"),
            ("a://b?c=1{?d}", "`{?d}`: one `?` begins the query; write `{&d}`"),
        ] {
            assert_eq!(UriTemplate::parse(template).expect_err("a bad template"), mistake, "{template}");
        }
    }

    #[test]
    fn templates_are_alike_if_only_names_differ() {
        for (one, other, is_like) in [
            ("b://{id}", "b://{name}", true),
            ("b://{a}/x{/b}", "b://{b}/x/{a}", true),
            ("b://{+id}", "b://{+name}", true),
            ("b://{id}{?size,page}", "b://{name}{?page,size}", true),
            ("b://{id}", "c://{id}", false),
            ("b://{id}", "b://{id}/raw", false),
            ("b://{id}", "b://{+id}", false),
            ("b://{id}", "b://{id*}", false),
            ("b://{id}", "b://{id}{?page}", false),
            ("b://{id}{?page}", "b://{id}{?size}", false),
            ("b://{a}/{b}", "b://{a}-{b}", false),
        ] {
            let [first, second] = [one, other].map(|template| UriTemplate::parse(template).expect("a good template"));
            assert_eq!(first.is_like(&second), is_like, "{one} {other}");
        }
    }
}
