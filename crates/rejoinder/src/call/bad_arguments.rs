use std::fmt;

/// One argument that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadArgument {
    /// Which one, with the path inside it: `order.lines[2].quantity`.
    pub field: String,
    /// What was expected and what came.
    pub message: String,
}

/// Everything that is wrong with a call's arguments, so that the model can mend all of it in one go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadArguments(pub Vec<BadArgument>);

impl BadArguments {
    /// Adds one, and tells whether there is room for more. After the first few the rest are only mentioned: a list of
    /// mistakes that is far longer than the request helps nobody.
    pub(crate) fn push(&mut self, field: impl Into<String>, message: impl Into<String>) -> bool {
        const MOST: usize = 20;
        match self.0.len() {
            ..MOST => self.0.push(BadArgument { field: shortened(field.into()), message: message.into() }),
            MOST => self.0.push(BadArgument { field: "…".into(), message: "there are more mistakes".into() }),
            _ => return false,
        }
        true
    }
}

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "Invalid argument `{}`: {}.", one.field, one.message),
            all => {
                f.write_str("Invalid arguments:")?;
                all.iter().try_for_each(|bad| write!(f, "\n- `{}`: {}", bad.field, bad.message))
            }
        }
    }
}

/// Puts serde's words into ours: what was expected, then what came, in JSON's terms.
pub(super) fn reason(error: &str) -> String {
    let error = without_place(error);
    let parts = error
        .strip_prefix("invalid type: ")
        .or_else(|| error.strip_prefix("invalid value: "))
        .and_then(|rest| rest.split_once(", expected "));
    match parts {
        Some((came, expected)) => format!("expected {}, got {}", expectation(expected), arrival(came)),
        None => match error.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected ")) {
            Some((came, expected)) => format!("expected {expected}, got {}", shortened(came.to_owned())),
            None => error.to_owned(),
        },
    }
}

/// Without `serde_json`'s place of the mistake, ` at line 1 column 5`, which is none that the model knows. The text of a
/// client may have words like these, and keeps them.
fn without_place(error: &str) -> &str {
    let is_place = |place: &str| {
        let numbers = place.split_once(" column ");
        numbers.is_some_and(|(line, column)| line.parse::<usize>().is_ok() && column.parse::<usize>().is_ok())
    };
    match error.rsplit_once(" at line ") {
        Some((text, place)) if is_place(place) => text,
        _ => error,
    }
}

fn expectation(expected: &str) -> &str {
    match expected {
        "i8" => "an integer from -128 to 127",
        "i16" => "an integer from -32768 to 32767",
        "i32" => "an integer from -2147483648 to 2147483647",
        "i64" | "i128" | "isize" => "an integer",
        "u8" => "an integer from 0 to 255",
        "u16" => "an integer from 0 to 65535",
        "u32" => "an integer from 0 to 4294967295",
        "u64" | "u128" | "usize" => "a non-negative integer",
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        other if other.starts_with("struct ") => "an object",
        other => other,
    }
}

fn arrival(came: &str) -> String {
    let came = match came {
        "sequence" => "an array",
        "map" => "an object",
        other => other,
    };
    shortened(match came.split_once(' ') {
        Some(("string", text)) => format!("the string {text}"),
        Some(("integer", number)) => format!("the integer {number}"),
        Some(("boolean", value)) => format!("the boolean {value}"),
        Some(("floating", rest)) => format!("the number {}", rest.trim_start_matches("point ")),
        _ => came.to_owned(),
    })
}

fn shortened(came: String) -> String {
    const LONGEST: usize = 80;
    match came.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &came[..end]),
        None => came,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_errors_are_told_in_json_terms() {
        let told = [
            reason(&serde_json::from_str::<i64>("\"many\"").expect_err("a string").to_string()),
            reason(&serde_json::from_str::<u8>("-1").expect_err("negative").to_string()),
            reason(&serde_json::from_str::<String>("[1]").expect_err("an array").to_string()),
            reason(&serde_json::from_str::<bool>("null").expect_err("null").to_string()),
            reason(&serde_json::from_str::<Vec<i32>>("1.5").expect_err("a number").to_string()),
        ];
        assert_eq!(
            told,
            [
                "expected an integer, got the string \"many\"",
                "expected an integer from 0 to 255, got the integer `-1`",
                "expected a string, got an array",
                "expected a boolean, got null",
                "expected an array, got the number `1.5`",
            ]
        );
    }

    #[test]
    fn only_the_place_of_the_mistake_is_left_out() {
        let error = serde_json::from_str::<i64>("\"stop at line 3\"").expect_err("a string").to_string();
        assert_eq!(reason(&error), "expected an integer, got the string \"stop at line 3\"");
        assert_eq!(reason("no such station at line 3"), "no such station at line 3");
    }

    #[test]
    fn a_long_value_is_shortened() {
        let error = serde_json::from_str::<i64>(&format!("\"{}\"", "x".repeat(500))).expect_err("a string");
        assert!(reason(&error.to_string()).len() < 130);
    }
}
