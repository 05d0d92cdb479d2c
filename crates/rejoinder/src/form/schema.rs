use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use super::{Field, digest_of};

/// What the client shows to the user: the `requestedSchema` of an elicitation.
///
/// Cheap to clone. It serializes as MCP wants it, with the fields in their order.
///
/// ```
/// use rejoinder::{form::{Field, Form}};
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
#[derive(Debug, Clone, Default)]
pub struct Form(Arc<Kept>);

/// The fields, and what is made of them once: a form is asked for many times over.
#[derive(Debug, Clone, Default)]
struct Kept {
    fields: Fields,
    json: OnceLock<Box<RawValue>>,
    digest: OnceLock<[u8; 32]>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Fields {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Form {
    /// A form without fields: the user can only accept or decline.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field at the end.
    pub fn with<T>(mut self, field: &Field<T>) -> Self {
        let kept = Arc::make_mut(&mut self.0);
        (kept.json, kept.digest) = Default::default();
        let fields = &mut kept.fields;
        fields.properties.insert(field.name().to_owned(), Value::Object(field.property()));
        // One of the same name takes the place of the first.
        fields.required.retain(|name| name != field.name());
        if field.is_required() {
            fields.required.push(field.name().to_owned());
        }
        self
    }

    /// The schema as a JSON value.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The form as JSON, which is made once.
    ///
    /// ```
    /// use rejoinder::form::Form;
    ///
    /// assert_eq!(Form::new().json().get(), r#"{"type":"object","properties":{}}"#);
    /// ```
    pub fn json(&self) -> &RawValue {
        self.0.json.get_or_init(|| serde_json::value::to_raw_value(self).expect("names and JSON serialise"))
    }

    /// What tells this form from another.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        self.0.digest.get_or_init(|| digest_of(&self.to_value()))
    }
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.0.fields == other.0.fields
    }
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Fields { properties, required } = &self.0.fields;
        let mut schema = serializer.serialize_map(None)?;
        schema.serialize_entry("type", "object")?;
        schema.serialize_entry("properties", properties)?;
        if !required.is_empty() {
            schema.serialize_entry("required", required)?;
        }
        schema.end()
    }
}
