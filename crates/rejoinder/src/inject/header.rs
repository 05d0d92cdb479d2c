//! `#[header]`: a parameter that is a header of the HTTP request.

use std::str::FromStr;

use http::HeaderValue;

use crate::{call::Call, error::CallError};

/// A type that a header's value can be read into: `T`, `Option<T>` and `Vec<T>` for a `T: FromStr`.
///
/// `Count` is inferred: which of the three it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a header",
    label = "not a type that is read from text",
    note = "a header is a `T`, an `Option<T>` or a `Vec<T>`, where `T` implements `std::str::FromStr`"
)]
pub trait FromHeader<Count>: Sized + Send {
    /// Reads the header's lines; `None` if there must be one and there is none.
    ///
    /// # Errors
    ///
    /// What is wrong with the header. It does not contain the value, which may be a secret.
    fn read(lines: &[&str]) -> Result<Option<Self>, &'static str>;

    /// The value of the header of that name.
    ///
    /// # Errors
    ///
    /// If it is missing and has no default, or if it cannot be read.
    fn from_header(call: &Call, name: &'static str, default: Option<fn() -> Self>) -> Result<Self, CallError> {
        let headers = call.request().headers();
        let lines = headers.into_iter().flat_map(|headers| headers.get_all(name));
        let lines: Result<Vec<_>, _> = lines.map(HeaderValue::to_str).collect();
        let value = match (lines, default) {
            (Ok(lines), Some(make)) if lines.is_empty() => Ok(Some(make())),
            (Ok(lines), _) => Self::read(&lines),
            (Err(_), _) => Err("is not plain ASCII text"),
        };
        let value = value.map_err(|problem| CallError::new(format!("the header `{name}` {problem}")))?;
        value.ok_or_else(|| {
            CallError::new(match headers {
                Some(_) => format!("the header `{name}` is required and was not sent"),
                None => format!("the header `{name}` is required, but stdio has no headers: connect over HTTP"),
            })
        })
    }
}

/// A header that must be there, once.
#[derive(Debug)]
pub struct OneHeader;

/// A header that may be missing.
#[derive(Debug)]
pub struct OptionalHeader;

/// A header that is a list.
#[derive(Debug)]
pub struct HeaderList;

impl<T: FromStr + Send> FromHeader<OneHeader> for T {
    fn read(lines: &[&str]) -> Result<Option<Self>, &'static str> {
        match lines {
            [] => Ok(None),
            [line] => parse(line).map(Some),
            // Which of the two counts would be a guess.
            _ => Err("was sent more than once"),
        }
    }
}

impl<T: FromStr + Send> FromHeader<OptionalHeader> for Option<T> {
    fn read(lines: &[&str]) -> Result<Option<Self>, &'static str> {
        <T as FromHeader<OneHeader>>::read(lines).map(Some)
    }
}

impl<T: FromStr + Send> FromHeader<HeaderList> for Vec<T> {
    fn read(lines: &[&str]) -> Result<Option<Self>, &'static str> {
        lines.iter().flat_map(|line| elements(line)).map(parse).collect::<Result<_, _>>().map(Some)
    }
}

fn parse<T: FromStr>(text: &str) -> Result<T, &'static str> {
    // The error of the type may repeat the value.
    text.parse().map_err(|_| "has a value that cannot be read")
}

/// The elements of a list in a header (RFC 9110, section 5.6.1): commas separate them, but not within quotes; empty ones
/// do not count.
fn elements(line: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let separates = move |c: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match c {
            '\\' if is_quoted => is_escaped = !was_escaped,
            '"' if !was_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        c == ',' && !is_quoted
    };
    line.split(separates).map(|element| element.trim_matches([' ', '\t'])).filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn a_list_is_split_as_the_rfc_says() {
        for (line, expected) in [
            ("a, b ,\tc", &["a", "b", "c"][..]),
            (", a,,", &["a"]),
            ("", &[]),
            (r#""a, b", c"#, &[r#""a, b""#, "c"]),
            (r#""a\", b", c"#, &[r#""a\", b""#, "c"]),
            (r#""a\\", b"#, &[r#""a\\""#, "b"]),
            (r#""open, end"#, &[r#""open, end"#]),
        ] {
            assert_eq!(elements(line).collect::<Vec<_>>(), expected, "{line}");
        }
    }
}
