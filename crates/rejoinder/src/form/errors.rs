use std::{borrow::Cow, error::Error, fmt};

/// What is wrong with one field of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormError {
    /// The field, by the name that the client knows.
    pub field: Cow<'static, str>,
    /// What it must be: the end of a sentence that begins with the field.
    pub message: String,
}

/// Everything that is wrong with an answer, in words for the user, so that all of it can be mended in one go.
///
/// ```
/// use rejoinder::{form::{FormError, FormErrors}};
///
/// let errors = FormErrors(vec![
///     FormError { field: "count".into(), message: "must be between 1 and 3".into() },
///     FormError { field: "name".into(), message: "is missing".into() },
/// ]);
/// assert_eq!(errors.to_string(), "`count` must be between 1 and 3; `name` is missing");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormErrors(pub Vec<FormError>);

impl FormErrors {
    pub(super) fn push(&mut self, field: Cow<'static, str>, message: String) {
        self.0.push(FormError { field, message });
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.field, self.message)
    }
}

impl fmt::Display for FormErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl Error for FormError {}
impl Error for FormErrors {}
