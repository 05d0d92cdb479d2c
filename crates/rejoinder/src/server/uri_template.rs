//! URI templates (RFC 6570) read backwards: from a URI to the values of its variables.
//!
//! `{x}` stands for one segment, `{+x}` and `{#x}` also for slashes, `{/x}` and `{.x}` bring their own mark,
//! `{?a,b}` and `{&a,b}` are query parameters in any order, each optional; `{x*}` spans segments too.

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    parts: Vec<Part>,
    query: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, slashes: bool },
}

impl UriTemplate {
    /// Reads a template; the error says what is wrong with it.
    pub(crate) fn parse(template: &str) -> Result<Self, String> {
        let mut parsed = Self { parts: Vec::new(), query: Vec::new() };
        let mut rest = template;
        while let Some(open) = rest.find(['{', '}']) {
            if rest.as_bytes()[open] == b'}' {
                return Err("a `}` has no `{` before it".to_owned());
            }
            parsed.literal(&rest[..open])?;
            let close = rest[open..].find('}').ok_or("a `{` has no `}` after it")? + open;
            parsed.expression(&rest[open + 1..close])?;
            rest = &rest[close + 1..];
        }
        parsed.literal(rest)?;
        let names: Vec<_> = parsed.variables().collect();
        if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(format!("the variable `{}` appears twice", twice.1));
        }
        Ok(parsed)
    }

    fn literal(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        if !self.query.is_empty() {
            return Err("nothing can follow `{?..}`".to_owned());
        }
        self.parts.push(Part::Literal(text.to_owned()));
        Ok(())
    }

    fn expression(&mut self, expression: &str) -> Result<(), String> {
        let (operator, names) = match expression.chars().next() {
            Some(operator @ ('+' | '#' | '.' | '/' | ';' | '?' | '&')) => (Some(operator), &expression[1..]),
            _ => (None, expression),
        };
        if operator == Some(';') {
            return Err("`{;..}` is not supported; use `{?..}`".to_owned());
        }
        for (at, name) in names.split(',').enumerate() {
            let (name, exploded) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
                return Err(format!("`{{{expression}}}` needs variable names of letters, digits and `_`"));
            }
            if let Some('?' | '&') = operator {
                self.query.push(name.to_owned());
                continue;
            }
            if !self.query.is_empty() {
                return Err("nothing can follow `{?..}`".to_owned());
            }
            match (operator, at) {
                (Some(mark @ '#'), 0) | (Some(mark @ ('/' | '.')), _) => {
                    self.parts.push(Part::Literal(mark.to_string()));
                }
                (_, 0) => {}
                _ => self.parts.push(Part::Literal(",".to_owned())),
            }
            if matches!(self.parts.last(), Some(Part::Variable { .. })) {
                return Err(format!("nothing separates `{name}` from the variable before it"));
            }
            let slashes = exploded || matches!(operator, Some('+' | '#'));
            self.parts.push(Part::Variable { name: name.to_owned(), slashes });
        }
        Ok(())
    }

    /// The names of its variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        let path = self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        });
        path.chain(self.query.iter().map(String::as_str))
    }

    /// Whether the variable may be absent from a URI.
    pub(crate) fn is_optional(&self, variable: &str) -> bool {
        self.query.iter().any(|name| name == variable)
    }

    /// The values of the variables, if the URI is one of this template's.
    pub(crate) fn matches(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        let (path, query) = match (self.query.is_empty(), uri.split_once('?')) {
            (false, Some((path, query))) => (path, query),
            _ => (uri, ""),
        };
        let (mut values, mut begin) = (Vec::new(), 0);
        for (part, end) in self.parts.iter().zip(cut(&self.parts, path)?) {
            if let Part::Variable { name, .. } = part {
                values.push((name.as_str(), decode(&path[begin..end])?));
            }
            begin = end;
        }
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = self.query.iter().find(|known| *known == name)?;
            if values.iter().any(|(seen, _)| seen == name) {
                return None;
            }
            values.push((name.as_str(), decode(value)?));
        }
        Some(values)
    }
}

/// Where each part ends, if the text is made of them; a variable takes as much as leaves room for the rest.
///
/// From the last part to the first it finds where each one may begin, in one pass over the text for each part, so
/// that no text is costly, however many ways there are to cut it.
fn cut(parts: &[Part], text: &str) -> Option<Vec<usize>> {
    // `ends[part][at]`: where the part ends if it begins at `at` and the rest follows.
    let mut ends: Vec<Vec<Option<usize>>> = Vec::with_capacity(parts.len());
    let mut rest_begins = vec![false; text.len() + 1];
    rest_begins[text.len()] = true;
    for part in parts.iter().rev() {
        let found = match part {
            Part::Literal(literal) => literal_ends(literal, text, &rest_begins),
            Part::Variable { slashes, .. } => variable_ends(*slashes, text, &rest_begins),
        };
        rest_begins = found.iter().map(Option::is_some).collect();
        ends.push(found);
    }
    let mut at = 0;
    ends.into_iter()
        .rev()
        .map(|ends| {
            at = ends[at]?;
            Some(at)
        })
        .collect::<Option<Vec<_>>>()
        .filter(|_| at == text.len())
}

fn literal_ends(literal: &str, text: &str, rest_begins: &[bool]) -> Vec<Option<usize>> {
    let (text, literal) = (text.as_bytes(), literal.as_bytes());
    let end = |at: usize| text[at..].starts_with(literal).then_some(at + literal.len());
    (0..=text.len()).map(|at| end(at).filter(|end| rest_begins[*end])).collect()
}

fn variable_ends(slashes: bool, text: &str, rest_begins: &[bool]) -> Vec<Option<usize>> {
    let text = text.as_bytes();
    let stops = |at: usize| !slashes && matches!(text.get(at), Some(b'/' | b'?' | b'#'));
    let mut ends = vec![None; text.len() + 1];
    // The last place that can be reached from here, and where the rest may begin.
    let mut furthest = None;
    for at in (0..=text.len()).rev() {
        ends[at] = furthest.filter(|_| !stops(at));
        if stops(at) {
            furthest = None;
        }
        furthest = furthest.or(rest_begins[at].then_some(at));
    }
    ends
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
    fn percent_escapes_are_decoded_and_broken_ones_do_not_match() {
        assert_eq!(values("n://{name}", "n://%C3%BC%2Fx"), Some(vec![pair("name", "ü/x")]));
        assert_eq!(values("n://{name}", "n://%C3"), None);
        assert_eq!(values("n://{name}", "n://%zz"), None);
        assert_eq!(values("n://{name}", "n://%+1"), None);
    }

    #[test]
    fn mistakes_are_named() {
        let mistake = |template| UriTemplate::parse(template).expect_err("a bad template");
        assert_eq!(mistake("a://{b"), "a `{` has no `}` after it");
        assert_eq!(mistake("a://b}"), "a `}` has no `{` before it");
        assert_eq!(mistake("a://{}"), "`{}` needs variable names of letters, digits and `_`");
        assert_eq!(mistake("a://{b}/{b}"), "the variable `b` appears twice");
        assert_eq!(mistake("a://{b}{c}"), "nothing separates `c` from the variable before it");
        assert_eq!(mistake("a://{?b}/c"), "nothing can follow `{?..}`");
    }
}
