//! Forms that are ready: yes or no, one text, one of a list.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{Elicit, ElicitField, Field, Form, FormErrors, IntoChoice};

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfirmForm {
    /// What the user said. Accepting the form is not yet a yes.
    pub yes: bool,
}

/// One text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextForm {
    /// What the user wrote.
    pub text: String,
}

impl Elicit for ConfirmForm {
    fn form() -> Form {
        static FORM: LazyLock<Form> = LazyLock::new(|| Form::new().with(&Field::<bool>::new("yes")));
        FORM.clone()
    }

    fn read(content: &Map<String, Value>) -> Result<Self, FormErrors> {
        read_one(&Field::new("yes"), content).map(|yes| Self { yes })
    }

    fn write(&self) -> Map<String, Value> {
        write_one("yes", &self.yes)
    }
}

impl Elicit for TextForm {
    fn form() -> Form {
        static FORM: LazyLock<Form> = LazyLock::new(|| Form::new().with(&Field::<String>::new("text")));
        FORM.clone()
    }

    fn read(content: &Map<String, Value>) -> Result<Self, FormErrors> {
        read_one(&Field::new("text"), content).map(|text| Self { text })
    }

    fn write(&self) -> Map<String, Value> {
        write_one("text", &self.text)
    }
}

/// One of a list that is known only when the question is asked.
///
/// ```
/// use rejoinder::form::Choice;
/// use serde_json::json;
///
/// let branches = [("main", "The main branch"), ("v1", "Version 1")];
/// let branch = Choice::of(branches);
/// assert_eq!(
///     branch.form().to_value()["properties"]["choice"],
///     json!({
///         "type": "string",
///         "oneOf": [{ "const": "main", "title": "The main branch" }, { "const": "v1", "title": "Version 1" }],
///     }),
/// );
/// assert_eq!(branch.read(&branch.write("v1"))?, "v1");
/// assert_eq!(branch.read(&branch.write("v2")).unwrap_err().to_string(), "`choice` must be one of `main`, `v1`");
/// # Ok::<(), rejoinder::form::FormErrors>(())
/// ```
#[derive(Debug)]
pub struct Choice(Field<String>);

impl Choice {
    /// A choice of these values, with or without titles for the user to see. With none, no answer would do.
    pub fn of(choices: impl IntoIterator<Item = impl IntoChoice>) -> Self {
        Self(Field::new("choice").one_of(choices))
    }

    /// Whether there is nothing to choose.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_one_of_none()
    }

    /// What the client shows to the user.
    pub fn form(&self) -> Form {
        Form::new().with(&self.0)
    }

    /// The value that the user chose.
    ///
    /// # Errors
    ///
    /// When it is missing, or not one of the list.
    pub fn read(&self, content: &Map<String, Value>) -> Result<String, FormErrors> {
        read_one(&self.0, content)
    }

    /// The answer of a user who chose that value.
    pub fn write(&self, value: &str) -> Map<String, Value> {
        write_one("choice", &value.to_owned())
    }
}

fn read_one<T>(field: &Field<T>, content: &Map<String, Value>) -> Result<T, FormErrors> {
    let mut errors = FormErrors::default();
    field.read(content, &mut errors).ok_or(errors)
}

fn write_one(name: &str, value: &impl ElicitField) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value.write())])
}
