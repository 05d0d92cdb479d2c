use std::sync::Arc;

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::{Nulls, clean, clean::without_null, settings};
use crate::call::{ArgumentSet, Param};

/// The schema of a function's arguments while it is being written.
#[derive(Debug)]
pub struct InputSchema {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl InputSchema {
    /// The schema of all arguments in `S`.
    pub fn of<S: ArgumentSet>(params: &'static [Param]) -> Self {
        let mut schema = Self { generator: settings().into_generator(), properties: Map::new(), required: Vec::new() };
        S::describe(params, &mut schema);
        schema
    }

    /// Adds one argument.
    pub fn add(&mut self, param: &Param, required: bool, schema: impl FnOnce(&mut SchemaGenerator) -> Value) {
        let mut schema = schema(&mut self.generator);
        if schema == Value::Bool(true) {
            schema = json!({});
        }
        without_null(&mut schema);
        clean(&mut schema, Nulls::Drop);
        if let Value::Object(schema) = &mut schema {
            if let Some(description) = param.description {
                schema.insert("description".into(), description.into());
            }
            if let Some(default) = param.default {
                schema.insert("default".into(), default());
            }
            if let Some(header) = param.header {
                schema.insert("x-mcp-header".into(), header.into());
            }
        }
        self.properties.insert(param.name.into(), schema);
        if required {
            self.required.push(param.name.into());
        }
    }

    /// Each argument: its name, its schema, and whether it must be sent.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &Value, bool)> {
        self.properties
            .iter()
            .map(|(name, schema)| (name.as_str(), schema, self.required.iter().any(|required| required == name)))
    }

    /// The finished schema. Unknown arguments are refused, and it says so.
    pub fn finish(mut self) -> Arc<Map<String, Value>> {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".into(), self.required.into());
        }
        schema.insert("additionalProperties".into(), false.into());
        let mut definitions = self.generator.take_definitions(true);
        if !definitions.is_empty() {
            definitions.values_mut().for_each(|definition| clean(definition, Nulls::Drop));
            schema.insert("$defs".into(), definitions.into());
        }
        Arc::new(schema)
    }
}
