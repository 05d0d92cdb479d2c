use std::sync::Arc;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::Field;

/// What the client shows to the user: the `requestedSchema` of an elicitation.
///
/// Cheap to clone. It serializes as MCP wants it, with the fields in their order.
///
/// ```
/// use rejoinder_core::form::{Field, Form};
///
/// let form = Form::new()
///     .with(&Field::<String>::new("name").title("Your name"))
///     .with(&Field::<u8>::new("age").max(150).default(30));
/// assert_eq!(
///     serde_json::to_string(&form)?,
///     concat!(
///         r#"{"type":"object","properties":{"name":{"type":"string","title":"Your name"},"#,
///         r#""age":{"type":"integer","maximum":150,"default":30}},"required":["name"]}"#,
///     ),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Form(Arc<Fields>);

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
        let fields = Arc::make_mut(&mut self.0);
        fields.properties.insert(field.name().to_owned(), Value::Object(field.property()));
        if field.is_required() {
            fields.required.push(field.name().to_owned());
        }
        self
    }

    /// The schema as a JSON value.
    pub fn to_value(&self) -> Value {
        let Fields { properties, required } = &*self.0;
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(properties.clone()));
        if !required.is_empty() {
            schema.insert("required".into(), required.as_slice().into());
        }
        Value::Object(schema)
    }
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Fields { properties, required } = &*self.0;
        let mut schema = serializer.serialize_map(None)?;
        schema.serialize_entry("type", "object")?;
        schema.serialize_entry("properties", properties)?;
        if !required.is_empty() {
            schema.serialize_entry("required", required)?;
        }
        schema.end()
    }
}
