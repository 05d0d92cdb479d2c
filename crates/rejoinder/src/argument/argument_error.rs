//! What is wrong with a call's arguments, in words that a model can act on.

use std::{borrow::Cow, fmt};

use serde_json::Value;

use crate::{
    error::{BoxError, CallError, text_or_error},
    schema::{shortened, shortened_to},
};

/// How many errors are reported one by one.
const MAX: usize = 20;

/// One argument that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentError {
    /// Which one, with the path inside it: `order.lines[2].quantity`.
    pub field: String,
    /// What was expected and what was sent.
    pub message: String,
    /// Whether it has the right type and breaks a constraint.
    pub breaks_rule: bool,
}

impl ArgumentError {
    /// What is wrong at this path.
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: path.into(), message: message.into(), breaks_rule: false }
    }

    /// The error that serde found at this path inside the argument.
    pub(super) fn at(path: &str, error: &impl fmt::Display) -> Self {
        // It may repeat a long value.
        const LONGEST: usize = 500;
        Self::new(path, shortened_to(LONGEST, without_position(&error.to_string())))
    }

    pub(crate) fn required() -> Self {
        Self::new("", "it is required and was not sent")
    }

    /// Which of the two values counts would be a guess.
    pub(super) fn duplicate() -> Self {
        Self::new("", "it was sent twice")
    }

    /// Whether a member of a struct was sent twice.
    pub(super) fn is_duplicate_field(&self) -> bool {
        self.message.starts_with("duplicate field ")
    }

    /// The same error, with its path below the argument of that name, `order.lines[2]`, or below none.
    pub(crate) fn of(mut self, name: &str) -> Self {
        self.field = match &*self.field {
            "" | "." if name.is_empty() => "arguments".to_owned(),
            "" | "." => name.to_owned(),
            _ if name.is_empty() => return self,
            index if index.starts_with('[') => format!("{name}{index}"),
            below => format!("{name}.{below}"),
        };
        self
    }
}

/// Why a [pipe](crate::pipe) does not accept a value.
///
/// The text of [`FieldError::new`] is reported like any other invalid argument, together with those of the other
/// parameters. Any other error, through `?`, ends the call as it does in a tool: the text of a [`CallError::new`] is for the
/// model, and the detail of everything else goes to the log only.
///
/// ```
/// use rejoinder::{call::FieldError, prelude::*};
///
/// #[pipe]
/// fn read_config(path: String) -> Result<String, FieldError> {
///     if path.starts_with('/') {
///         return Err(FieldError::new("give a path below the project folder"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
///
/// assert_eq!(read_config("/etc/passwd".to_owned()).unwrap_err().to_string(), "give a path below the project folder");
/// ```
#[derive(Debug, Clone)]
pub struct FieldError(Result<Cow<'static, str>, CallError>);

impl FieldError {
    /// An error whose text says what is wrong with the value, and what to send instead. The name of the argument is added.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(Ok(text.into()))
    }

    /// The text about the value, or the error that ends the call.
    pub(crate) fn into_text(self) -> Result<String, CallError> {
        self.0.map(Cow::into_owned)
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(text) => f.write_str(text),
            Err(error) => error.fmt(f),
        }
    }
}

impl From<CallError> for FieldError {
    fn from(error: CallError) -> Self {
        Self(Err(error))
    }
}

// As for `CallError`: it is not itself an `Error`, so that every error becomes one through `?`.
impl<E: Into<BoxError>> From<E> for FieldError {
    fn from(error: E) -> Self {
        text_or_error(error).map_or_else(|error| CallError::internal(error).into(), Self::new)
    }
}

/// What the `Err` of a pipe's result may be: a [`FieldError`], a text, which says what is wrong with the value, a
/// [`CallError`], or an error of your own that says which of these it is.
///
/// ```
/// use rejoinder::{call::{FieldError, IntoFieldError}, prelude::*};
///
/// struct NotOnTheMap(String);
///
/// impl IntoFieldError for NotOnTheMap {
///     fn into_field_error(self) -> FieldError {
///         FieldError::new(format!("`{}` is not on the map", self.0))
///     }
/// }
///
/// #[pipe]
/// fn find_city(name: String) -> Result<(f64, f64), NotOnTheMap> {
///     if name == "Bergen" { Ok((60.4, 5.3)) } else { Err(NotOnTheMap(name)) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a pipe",
    label = "not a `FieldError`",
    note = "return `FieldError`: `FieldError::new(text)` says what is wrong with the value, and `?` converts every other error",
    note = "if its text is about the value, implement `rejoinder::call::IntoFieldError` for it"
)]
pub trait IntoFieldError {
    /// What is reported.
    fn into_field_error(self) -> FieldError;
}

impl IntoFieldError for FieldError {
    fn into_field_error(self) -> FieldError {
        self
    }
}

/// `.into()` decides: a text is about the value, and a [`CallError`] ends the call.
macro_rules! into_field_error {
    ($($error:ty)*) => { $(
        impl IntoFieldError for $error {
            fn into_field_error(self) -> FieldError {
                self.into()
            }
        }
    )* };
}

into_field_error!(CallError String &'static str Cow<'static, str>);

/// Everything that is wrong with a call's arguments, so that the model can correct all of it at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentErrors(pub Vec<ArgumentError>);

impl ArgumentErrors {
    /// The arguments as a whole cannot be read.
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        Self(vec![ArgumentError::new("arguments", error.to_string())])
    }

    /// Adds an error, up to a limit, so that the reply is not far longer than the request.
    pub(crate) fn push(&mut self, error: ArgumentError) {
        match self.0.len() {
            ..MAX => self.0.push(ArgumentError { field: shortened(&error.field), ..error }),
            MAX => self.0.push(ArgumentError::new("…", "there are more errors")),
            _ => {}
        }
    }

    /// Whether all values have the right types, and one breaks a constraint.
    pub(crate) fn only_break_rules(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|error| error.breaks_rule)
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() > MAX
    }
}

impl fmt::Display for ArgumentErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "Invalid argument `{}`: {}.", one.field, one.message),
            all => {
                f.write_str("Invalid arguments:")?;
                all.iter().try_for_each(|error| write!(f, "\n- `{}`: {}", error.field, error.message))
            }
        }
    }
}

/// Without the ` at line 1 column 5` of `serde_json`, which says nothing to the model. A client's text that reads like it
/// stays.
pub(crate) fn without_position(error: &str) -> &str {
    let is_position = |place: &str| {
        let numbers = place.split_once(" column ");
        numbers.is_some_and(|(line, column)| line.parse::<usize>().is_ok() && column.parse::<usize>().is_ok())
    };
    match error.rsplit_once(" at line ") {
        Some((text, place)) if is_position(place) => text,
        _ => error,
    }
}

/// That an argument or a property is unknown, and which ones there are.
pub(crate) fn unknown((one, all): (&str, &str), known: impl Iterator<Item = impl fmt::Display>) -> String {
    match &*known.map(|name| format!("`{name}`")).collect::<Vec<_>>() {
        [] => format!("unknown {one}; no {all} are accepted"),
        known => format!("unknown {one}; the {all} are {}", known.join(", ")),
    }
}

/// What was sent, in JSON's terms.
pub(crate) fn got(value: &Value) -> String {
    let named = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("the boolean `{value}`"),
        Value::Number(number) if number.is_f64() => format!("the number `{number}`"),
        Value::Number(number) => format!("the integer `{number}`"),
        Value::String(text) => format!("the string {text:?}"),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    shortened(&named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_position_is_left_out() {
        for (error, expected) in [
            ("no such station at line 1 column 5", "no such station"),
            ("no such station at line 3", "no such station at line 3"),
            ("no such station at line 3 at line 1 column 5", "no such station at line 3"),
        ] {
            assert_eq!(without_position(error), expected);
        }
    }
}
