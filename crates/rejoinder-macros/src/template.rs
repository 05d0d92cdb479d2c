//! What can be known of a resource's URI while it compiles. The server checks the rest when it is built.

use syn::LitStr;

use crate::errors::Errors;

/// The variables of the template, in order; every mistake in it is reported at the literal.
pub(crate) fn variables(uri: &LitStr, errors: &mut Errors) -> Vec<String> {
    let text = uri.value();
    if !has_scheme(&text) {
        errors.at(uri, "a resource's URI begins with a scheme, such as `notes://`");
    }
    let mut variables: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        if rest[at..].starts_with('}') {
            errors.at(uri, "a `}` closes nothing in this template");
            break;
        }
        let Some(length) = rest[at + 1..].find(['{', '}']).filter(|end| rest[at + 1 + end..].starts_with('}')) else {
            errors.at(uri, "a `{` is not closed in this template");
            break;
        };
        for name in names(&rest[at + 1..at + 1 + length]) {
            if !is_name(name) {
                let reason = if name.is_empty() { "has no name".into() } else { format!("has the name `{name}`") };
                errors.at(uri, format!("a variable of this template {reason}: a name is letters, digits and `_`"));
            } else if variables.iter().any(|known| known == name) {
                errors.at(uri, format!("the variable `{name}` comes twice in this template"));
            } else {
                variables.push(name.to_owned());
            }
        }
        rest = &rest[at + length + 2..];
    }
    variables
}

/// The names in one RFC 6570 expression: without its operator and their modifiers.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let list = expression.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(expression);
    list.split(',').map(|name| name.strip_suffix('*').unwrap_or(name)).map(|name| match name.split_once(':') {
        Some((name, length)) if length.parse::<u16>().is_ok() => name,
        _ => name,
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.' || c == '-')
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

    fn check(uri: &str) -> (Vec<String>, String) {
        let mut errors = Errors::default();
        let variables = variables(&LitStr::new(uri, Span::call_site()), &mut errors);
        (variables, errors.into_tokens().to_string())
    }

    #[test]
    fn variables_are_found() {
        let (found, errors) = check("files://{+root}/{path}{?page,size:3,all*}");
        assert_eq!(found, ["root", "path", "page", "size", "all"]);
        assert_eq!(errors, "");
    }

    #[test]
    fn mistakes_are_told() {
        for (uri, part) in [
            ("a://{b", "not closed"),
            ("a://{b{c}}", "not closed"),
            ("a://b}", "closes nothing"),
            ("a://{}", "no name"),
            ("a://{b c}", "the name `b c`"),
            ("a://{b}/{b}", "comes twice"),
            ("notes", "begins with a scheme"),
            ("{scheme}://x", "begins with a scheme"),
        ] {
            let (_, errors) = check(uri);
            assert!(errors.contains(part), "{uri}: {errors}");
            assert_eq!(errors.matches("compile_error").count(), 1, "{uri}: {errors}");
        }
    }
}
