//! Forms that a user can be asked to fill in.
//!
//! A form is a struct that derives [`Elicit`]. MCP forms are flat: a field is a text, a number, a yes-or-no question or a
//! choice. [`ConfirmForm`] and [`TextForm`] are ready-made forms.
//!
//! * `field`: [`Field`], one field with its title, rules and default, and [`ElicitField`], the types that it can have;
//! * `number`, `choice`: the fields that need more than a few lines;
//! * `foreign`: dates, times and UUIDs, with the features `chrono` and `uuid`;
//! * `older`: forms for clients before 2025-11-25.

mod choice;
mod field;
#[cfg(any(feature = "chrono", feature = "uuid"))]
mod foreign;
mod number;
mod older;

pub use crate::schema::{Format, Number};
pub use choice::{ElicitEnum, IntoChoice};
#[doc(hidden)]
pub use field::ArgumentRules;
pub use field::{ElicitField, Field, ListField, NumberField, TextField};

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use rejoinder_macros::Elicit;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

/// A form that the user can be asked to fill in. Derive it:
///
/// ```
/// use rejoinder::{Elicit, form::ConfirmForm};
///
/// // What `#[derive(Elicit)] struct ConfirmForm { yes: bool }` is.
/// let form = ConfirmForm::form();
/// assert_eq!(
///     form.to_value(),
///     serde_json::json!({
///         "type": "object",
///         "properties": { "yes": { "type": "boolean" } },
///         "required": ["yes"],
///     }),
/// );
///
/// let answer = ConfirmForm { yes: true }.write();
/// assert!(ConfirmForm::read(&answer)?.yes);
/// assert_eq!(ConfirmForm::read(&serde_json::Map::new()).unwrap_err().to_string(), "`yes` is missing");
/// # Ok::<(), rejoinder::form::FormErrors>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form that the user can be asked to fill in",
    label = "not a form",
    note = "derive it: `#[derive(Elicit)]` on a struct whose fields are strings, numbers, `bool`s and choices",
    note = "the answer to `Ask::confirm` is a `rejoinder::form::ConfirmForm`, and that to `Ask::text` a `rejoinder::form::TextForm`",
    note = "a test can send JSON with `Client::answer_with`"
)]
pub trait Elicit: Sized + Send + Sync + 'static {
    /// The form that the client shows to the user.
    ///
    /// # Panics
    ///
    /// A default does not fit its own field. The first test of the form finds this.
    fn form() -> Form;

    /// Reads the user's answer. Fields that the form does not have are ignored.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the answer.
    fn read(content: &Map<String, Value>) -> Result<Self, FormErrors>;

    /// The answer that is read as this value.
    fn write(&self) -> Map<String, Value>;
}

/// What the client shows to the user: the `requestedSchema` of an elicitation.
///
/// Cheap to clone. It serializes as MCP defines it, with the fields in their order.
///
/// ```
/// use rejoinder::form::{Field, Form};
///
/// let form = Form::new()
///     .with(&Field::<String>::new("name").title("Your name"))
///     .with(&Field::<u8>::new("age").max(150).default(30));
/// assert_eq!(
///     serde_json::to_string(&form)?,
///     concat!(
///         r#"{"type":"object","properties":{"name":{"type":"string","title":"Your name"},"#,
///         r#""age":{"type":"integer","minimum":0,"maximum":150,"default":30}},"required":["name"]}"#,
///     ),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct Form(Arc<FormSchema>);

#[derive(Debug, Clone, Default, Serialize)]
#[serde(tag = "type", rename = "object")]
struct FormSchema {
    properties: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<String>,
    /// Made once, since a form is asked for many times.
    #[serde(skip)]
    json: OnceLock<Box<RawValue>>,
    #[serde(skip)]
    digest: OnceLock<[u8; 32]>,
}

impl Form {
    /// A form without fields: the user can only accept or decline.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field at the end, or replaces the field of the same name.
    pub fn with<T>(mut self, field: &Field<T>) -> Self {
        let schema = Arc::make_mut(&mut self.0);
        (schema.json, schema.digest) = Default::default();
        schema.properties.insert(field.name().to_owned(), Value::Object(field.schema()));
        schema.required.retain(|name| name != field.name());
        if field.is_required() {
            schema.required.push(field.name().to_owned());
        }
        self
    }

    /// The same form with these values as defaults.
    pub(crate) fn prefilled(mut self, content: &Map<String, Value>) -> Self {
        let schema = Arc::make_mut(&mut self.0);
        (schema.json, schema.digest) = Default::default();
        for (name, value) in content {
            if let Some(property) = schema.properties.get_mut(name) {
                property["default"] = value.clone();
            }
        }
        self
    }

    /// The schema as a JSON value.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The schema as JSON.
    pub(crate) fn json(&self) -> &RawValue {
        self.0.json.get_or_init(|| to_raw_value(self).expect("names and JSON values serialize"))
    }

    /// The digest of the schema, which is another one for another form.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        self.0.digest.get_or_init(|| digest_of(self.to_value()))
    }
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.0.properties == other.0.properties && self.0.required == other.0.required
    }
}

/// The digest of a JSON value. The order of members does not matter.
pub(crate) fn digest_of(mut value: Value) -> [u8; 32] {
    value.sort_all_objects();
    digest(&SHA256, value.to_string().as_bytes()).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Everything that is wrong with an answer, in words for the user.
///
/// ```
/// use rejoinder::form::{FormError, FormErrors};
///
/// let errors = FormErrors(vec![
///     FormError { field: "count".into(), message: "must be between 1 and 3".into() },
///     FormError { field: "name".into(), message: "is missing".into() },
/// ]);
/// assert_eq!(errors.to_string(), "`count` must be between 1 and 3; `name` is missing");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(FormError::to_string).collect::<Vec<_>>().join("; "))]
pub struct FormErrors(pub Vec<FormError>);

/// What is wrong with one field of an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {message}")]
pub struct FormError {
    /// The field, by the name that the client knows.
    pub field: Cow<'static, str>,
    /// The problem, as the end of a sentence that begins with the field: "must be a number".
    pub message: String,
}

/// A form with one yes-or-no question. A user who accepts the form has not yet said yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Elicit)]
#[expect(missing_docs, reason = "the user would see the doc comment of a field")]
pub struct ConfirmForm {
    pub yes: bool,
}

/// A form with one text, which the user writes.
#[derive(Debug, Clone, PartialEq, Eq, Elicit)]
#[expect(missing_docs, reason = "the user would see the doc comment of a field")]
pub struct TextForm {
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_how_the_json_is_written() {
        let parse = |json: &str| digest_of(serde_json::from_str(json).expect("JSON"));
        assert_eq!(parse(r#"{ "a": [1, {"c": 2, "b": 3}], "d": 1 }"#), parse(r#"{"d":1,"a":[1,{"b":3,"c":2}]}"#));
        assert_ne!(parse(r#"{"a":[1,{"c":2,"b":3}],"d":1}"#), parse(r#"{"a":[1,{"c":2,"b":4}],"d":1}"#));
    }
}
