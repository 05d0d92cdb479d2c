//! What can be known of a resource's URI while it compiles: by the rules of the server, which reads it again when it is
//! built (`server/uri_template/parse.rs` of `rejoinder`), because a URI may also be given at run time.

use syn::LitStr;

use crate::errors::Errors;

/// The variables of a template.
pub(crate) struct Variables {
    /// Their names, in order.
    pub(crate) names: Vec<String>,
    /// Whether some of the template is a query.
    has_query: bool,
}

impl Variables {
    /// Whether the template has a variable of that name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// What is wrong with an argument that the template does not have.
    pub(crate) fn without(&self, name: &str) -> String {
        let sign = if self.has_query { '&' } else { '?' };
        format!(
            "the URI has no variable `{name}` for this argument: add `{{{name}}}` or, if it may be absent, `{{{sign}{name}}}`"
        )
    }
}

/// The variables of the template. A mistake in it is reported at the literal; then nothing is known of them.
pub(crate) fn variables(uri: &LitStr, errors: &mut Errors) -> Option<Variables> {
    let text = uri.value();
    if !has_scheme(&text) {
        errors.at(uri, "a resource's URI begins with a scheme, such as `notes://`");
    }
    let mut template = Template { read: &text[..0], variables: Vec::new(), query: Query::None, after_variable: false };
    match template.read(&text) {
        Ok(()) => Some(Variables { names: template.variables, has_query: template.query != Query::None }),
        Err(mistake) => {
            errors.at(uri, mistake);
            None
        }
    }
}

/// A template, as far as it has been read.
struct Template<'a> {
    read: &'a str,
    variables: Vec<String>,
    query: Query,
    /// Whether a variable is the last thing that was read.
    after_variable: bool,
}

#[derive(PartialEq)]
enum Query {
    None,
    /// There is a `?` in what is written out.
    Begun,
    /// There was a `{?..}` or `{&..}`.
    Last,
}

impl<'a> Template<'a> {
    fn read(&mut self, text: &'a str) -> Result<(), String> {
        let mut at = 0;
        while let Some(open) = text[at..].find(['{', '}']).map(|length| at + length) {
            if text[open..].starts_with('}') {
                return Err("a `}` has no `{` before it: add one, or write `%7D` for the sign itself".into());
            }
            let close = text[open + 1..].find(['{', '}']).map(|length| open + 1 + length);
            let close = close
                .filter(|close| text[*close..].starts_with('}'))
                .ok_or("a `{` has no `}` after it: add one, or write `%7B` for the sign itself")?;
            self.literal(&text[at..open])?;
            self.read = &text[..open];
            self.expression(&text[open + 1..close])?;
            at = close + 1;
        }
        self.literal(&text[at..])
    }

    fn literal(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        self.before_the_query(text)?;
        self.after_variable = false;
        if text.contains('?') {
            self.query = Query::Begun;
        }
        Ok(())
    }

    fn expression(&mut self, expression: &str) -> Result<(), String> {
        let operator = expression.chars().next().filter(|first| "+#./;?&".contains(*first));
        let names = if operator.is_some() { &expression[1..] } else { expression };
        match operator {
            Some(';') => return Err(format!("`{{{expression}}}` is not supported: write `{{?{names}}}`")),
            Some('?') if self.query != Query::None => {
                return Err(format!("a query has begun before `{{{expression}}}`: write `{{&{names}}}`"));
            }
            Some('&') if self.query == Query::None => {
                return Err(format!("no query has begun before `{{{expression}}}`: write `{{?{names}}}`"));
            }
            Some('?' | '&') => self.query = Query::Last,
            _ => self.before_the_query(&format!("{{{expression}}}"))?,
        }
        for (index, name) in names.split(',').enumerate() {
            let name = name.strip_suffix('*').unwrap_or(name);
            self.check_name(name, expression)?;
            if let Some('?' | '&') = operator {
                if has_pair(self.read, name) {
                    return Err(format!(
                        "the query has a value for `{name}` before `{{{expression}}}`: remove one of them"
                    ));
                }
            } else if self.after_variable && index == 0 && !matches!(operator, Some('#' | '/' | '.')) {
                return Err(format!(
                    "nothing separates `{name}` from the variable before it: put a sign between them, such as `/`"
                ));
            }
            self.variables.push(name.to_owned());
        }
        self.after_variable = true;
        Ok(())
    }

    fn check_name(&self, name: &str, expression: &str) -> Result<(), String> {
        if let Some((name, length)) = name.split_once(':') {
            return Err(format!(
                "`{{{expression}}}` cuts a value off, and a URI does not tell the rest: leave out `:{length}` after `{name}`"
            ));
        }
        if name.is_empty() {
            return Err(format!("a variable has no name in `{{{expression}}}`: write one, such as `{{id}}`"));
        }
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
            return Err(format!("a variable cannot be called `{name}`: use letters from a to z, digits and `_`"));
        }
        if self.variables.iter().any(|known| known == name) {
            return Err(format!("the variable `{name}` is there twice: give one of them another name"));
        }
        Ok(())
    }

    fn before_the_query(&self, piece: &str) -> Result<(), String> {
        if self.query != Query::Last {
            return Ok(());
        }
        Err(format!("`{piece}` comes after a `{{?..}}` or `{{&..}}`: these go to the end"))
    }
}

/// Whether a pair of that name is written out in the query, as in `?kind=a`.
fn has_pair(text: &str, name: &str) -> bool {
    text.split(['?', '&']).skip(1).any(|pair| pair.split_once('=').is_some_and(|(key, _)| key == name))
}

fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn check(uri: &str) -> (Option<Variables>, String) {
        let mut errors = Errors::default();
        let variables = variables(&LitStr::new(uri, Span::call_site()), &mut errors);
        (variables, errors.into_tokens().to_string())
    }

    #[test]
    fn variables_are_found() {
        for (uri, variables) in [
            ("files://{+root}/{path}{?page,all*}", &["root", "path", "page", "all"][..]),
            ("files://a{/b,c}{.d}{#e}", &["b", "c", "d", "e"]),
            ("db://rows?kind={kind}{&page}{&size}", &["kind", "page", "size"]),
            ("db://rows{?kind}{&page}", &["kind", "page"]),
        ] {
            let (found, errors) = check(uri);
            assert_eq!(errors, "", "{uri}");
            assert_eq!(found.expect("no mistakes").names, variables, "{uri}");
        }
    }

    #[test]
    fn what_is_missing_goes_into_the_query_that_there_is() {
        for (uri, proposed) in [
            ("a://b", "`{?page}`"),
            ("a://{b}", "`{?page}`"),
            ("a://b?c=1", "`{&page}`"),
            ("a://b?c={c}", "`{&page}`"),
            ("a://b{?c}", "`{&page}`"),
            ("a://b?c=1{&d}", "`{&page}`"),
        ] {
            let (found, _) = check(uri);
            let told = found.expect("no mistakes").without("page");
            assert!(told.ends_with(proposed), "{uri}: {told}");
        }
    }

    /// The server has the same table.
    #[test]
    fn mistakes_are_told_with_their_remedy() {
        for (uri, mistake) in [
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
            ("notes", "a resource's URI begins with a scheme, such as `notes://`"),
            ("{scheme}://x", "a resource's URI begins with a scheme, such as `notes://`"),
        ] {
            let (_, errors) = check(uri);
            assert!(errors.contains(mistake), "{uri}: {errors}");
            assert_eq!(errors.matches("compile_error").count(), 1, "{uri}: {errors}");
        }
    }
}
