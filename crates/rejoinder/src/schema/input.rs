use std::{any::TypeId, sync::Arc};

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::{clean::without_null, clean_input, generator};
use crate::call::{Argument, ArgumentSet, Param};

/// The schema of a function's arguments while it is being written.
#[derive(Debug)]
pub struct InputSchema {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
    types: Vec<(&'static str, TypeId)>,
}

impl InputSchema {
    /// The schema of all arguments in `S`.
    pub fn of<S: ArgumentSet>(params: &'static [Param]) -> Self {
        let mut schema = Self {
            generator: generator(|settings| settings.for_deserialize()),
            properties: Map::new(),
            required: Vec::new(),
            types: Vec::new(),
        };
        S::describe(params, &mut schema);
        schema
    }

    /// Adds an argument of this type.
    pub fn add<T: Argument>(&mut self, param: &Param, required: bool, default: Option<Value>) {
        let mut schema = T::schema(&mut self.generator);
        self.types.push((param.name, TypeId::of::<T>()));
        if schema == Value::Bool(true) {
            schema = json!({});
        }
        if !required {
            without_null(&mut schema);
        }
        if let Value::Object(schema) = &mut schema {
            if let Some(description) = param.description {
                schema.insert("description".into(), description.into());
            }
            if let Some(default) = default {
                schema.insert("default".into(), default);
            }
            if let Some(header) = param.header {
                schema.insert("x-mcp-header".into(), header.into());
            }
        }
        clean_input(&mut schema);
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

    /// The types of the arguments, by name.
    pub fn types(&self) -> &[(&'static str, TypeId)] {
        &self.types
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
            definitions.values_mut().for_each(clean_input);
            schema.insert("$defs".into(), definitions.into());
        }
        Arc::new(schema)
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::call::Default;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        /// Of blood.
        Red,
        Green,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Leaf {
        color: Option<Color>,
        #[serde(default)]
        size: u8,
        below: Option<Box<Leaf>>,
        any: Value,
    }

    fn red() -> Color {
        Color::Red
    }

    const PARAMS: &[Param] = &[
        Param { name: "leaf", description: Some("The leaf."), default: None, header: None, complete: None },
        Param {
            name: "color",
            description: None,
            default: Some(Default { make: &(red as fn() -> Color), show: || Some("red".into()) }),
            header: Some("Color"),
            complete: None,
        },
        Param { name: "count", description: None, default: None, header: None, complete: None },
    ];

    #[test]
    fn a_schema_that_clients_accept() {
        let schema = InputSchema::of::<(Leaf, (Color, (Option<i64>, ())))>(PARAMS).finish();
        insta::assert_json_snapshot!(*schema);
    }
}
