//! Whole numbers that are written with a fraction. To JSON Schema `2.0` is an integer, and some clients write one so; to
//! the readers of Rust's integers it is none.

/// The JSON text with each number whose fraction is zero written without it; `None` if there is no such number.
pub(super) fn without_zero_fractions(json: &str) -> Option<String> {
    let (mut out, mut rest) = (String::new(), json);
    while let Some(begin) = rest.find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        let (before, token) = rest.split_at(begin);
        let is_number = !token.starts_with('"');
        let (token, after) = token.split_at(if is_number { end_of_number(token) } else { end_of_string(token) });
        out.push_str(before);
        out.push_str(whole(token).filter(|_| is_number).unwrap_or(token));
        rest = after;
    }
    out.push_str(rest);
    (out.len() < json.len()).then_some(out)
}

/// The whole number, if this is one that has a fraction of zeros.
fn whole(token: &str) -> Option<&str> {
    let (whole, fraction) = token.split_once('.')?;
    let is_zero = !fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0');
    // A minus zero is a fraction to serde.
    is_zero.then(|| if whole == "-0" { "0" } else { whole })
}

fn end_of_number(token: &str) -> usize {
    token.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(token.len())
}

fn end_of_string(token: &str) -> usize {
    let mut is_escaped = true;
    let end = token.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(token.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fraction_of_zeros_goes() {
        for (written, read) in [
            ("2.0", Some("2")),
            ("-17.000", Some("-17")),
            ("-0.0", Some("0")),
            (r#"{"a":[1.0,2.5,3],"b":1.0}"#, Some(r#"{"a":[1,2.5,3],"b":1}"#)),
            (r#"{"2.0":"3.0 \"4.0\" \\","c":5.0}"#, Some(r#"{"2.0":"3.0 \"4.0\" \\","c":5}"#)),
            ("2", None),
            ("2.5", None),
            ("2.05", None),
            ("2.0e1", None),
            ("\"2.0\"", None),
            ("\"\u{e9} 2.0", None),
            ("2.", None),
        ] {
            assert_eq!(without_zero_fractions(written).as_deref(), read, "{written}");
        }
    }
}
