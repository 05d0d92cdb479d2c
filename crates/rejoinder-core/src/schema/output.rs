use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{Nulls, clean, settings};

/// The schema of a structured result.
///
/// A result that is not an object travels as `{"result": ..}`: clients before 2026-07-28 take objects only.
#[derive(Debug, Clone)]
pub struct OutputSchema {
    /// The schema, always of an object.
    pub schema: Arc<Map<String, Value>>,
    /// Whether the value is wrapped.
    pub wrapped: bool,
}

impl OutputSchema {
    /// The schema of `T` as a result.
    pub fn of<T: JsonSchema>() -> Self {
        let mut generator = settings().for_serialize().into_generator();
        let mut schema: Value = generator.subschema_for::<T>().into();
        let mut definitions = generator.take_definitions(true);
        // A recursive type arrives as a reference to its definition; look through it.
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
        let kind = target.map_or(&schema, |name| &definitions[name]).get("type").cloned();
        let wrapped = kind.is_none_or(|kind| kind != "object");
        if wrapped {
            schema = json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] });
        } else {
            schema["type"] = "object".into();
        }
        clean(&mut schema, Nulls::Keep);
        let Value::Object(mut schema) = schema else { unreachable!("an object was made above") };
        if !definitions.is_empty() {
            definitions.values_mut().for_each(|definition| clean(definition, Nulls::Keep));
            schema.insert("$defs".into(), definitions.into());
        }
        Self { schema: Arc::new(schema), wrapped }
    }
}
