//! The schema of a function's arguments.

use std::{any::TypeId, sync::Arc};

use schemars::SchemaGenerator;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Argument, ArgumentCheck, ArgumentSet, Param, SchemaCheck};
use crate::schema::{Matching, Variants, clean_input, drop_number_formats, generator, variants_in, without_null};

/// The schema of a function's arguments, one argument after the other.
#[derive(Debug)]
pub struct InputSchema {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
    /// The types of the arguments, by name.
    pub(crate) types: Vec<(&'static str, TypeId)>,
    /// The enums in the types of the arguments.
    enums: Vec<Variants>,
    /// The whole, once all arguments are there. It refuses unknown arguments, as the server does.
    pub(crate) finished: Arc<Map<String, Value>>,
    /// How its arguments are checked.
    pub(crate) check: Arc<SchemaCheck>,
    /// What it says and cannot be checked, and the values in it that do not fit it.
    pub(crate) problems: Vec<String>,
}

impl InputSchema {
    /// The schema of all arguments in `S`.
    pub(crate) fn of<S: ArgumentSet>(params: &'static [Param]) -> Self {
        let mut schema = Self {
            generator: generator(|settings| settings.for_deserialize()),
            properties: Map::new(),
            required: Vec::new(),
            types: Vec::new(),
            enums: Vec::new(),
            finished: Arc::default(),
            check: Arc::default(),
            problems: Vec::new(),
        };
        S::describe(params, &mut schema);
        schema.finish();
        schema
    }

    /// Adds an argument of this type.
    pub(crate) fn add<T: Argument + DeserializeOwned>(
        &mut self,
        param: &Param,
        required: bool,
        default: Option<Value>,
    ) {
        let mut schema = T::schema(&mut self.generator);
        self.types.push((param.name, TypeId::of::<T>()));
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
        self.enums.extend(variants_in::<T>());
        clean_input(&mut schema, &self.enums);
        if let (Value::Object(schema), Some(keywords)) = (&mut schema, param.keywords) {
            schema.extend(keywords());
        }
        self.properties.insert(param.name.into(), schema);
        if required {
            self.required.push(param.name.into());
        }
    }

    /// Each argument: its name, its schema, and whether it is required.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&str, &Value, bool)> {
        self.properties
            .iter()
            .map(|(name, schema)| (name.as_str(), schema, self.required.iter().any(|required| required == name)))
    }

    fn finish(&mut self) {
        let mut definitions = self.generator.take_definitions(true);
        definitions.values_mut().for_each(|definition| clean_input(definition, &self.enums));
        let mut schema = json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        });
        if !definitions.is_empty() {
            schema["$defs"] = definitions.into();
        }
        // The formats of numbers say which bounds are those of a type.
        self.check = Arc::new(SchemaCheck::new(&schema, &self.enums));
        let problems = self.check.problems().iter();
        self.problems =
            problems.map(|problem| format!("{problem}; remove it, or check the value in the function")).collect();
        self.problems
            .extend(self.properties.iter().flat_map(|(name, schema)| unfit(&self.check.argument(name), name, schema)));
        drop_number_formats(&mut schema);
        if let Value::Object(schema) = schema {
            self.finished = Arc::new(schema);
        }
    }
}

/// The default and the examples of an argument that do not fit its own schema.
fn unfit(check: &ArgumentCheck, name: &str, schema: &Value) -> Vec<String> {
    let default = schema.get("default").map(|default| ("default", default));
    let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten().map(|one| ("example", one));
    let wrong = default.into_iter().chain(examples).filter(|_| check.has_rules).filter_map(|(word, value)| {
        let error = check.check(&mut value.clone(), &Matching::default()).err()?.into_iter().next()?.of(name);
        Some(format!("the {word} `{value}` does not fit its own argument: `{}` {}", error.field, error.message))
    });
    wrong.collect()
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::argument::ArgumentDefault;

    #[derive(Deserialize, serde::Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        /// Of blood.
        Red,
        Green,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
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
        Param { description: Some("The leaf."), ..Param::new("leaf") },
        Param {
            default: Some(ArgumentDefault::of(&(red as fn() -> Color))),
            header: Some("Color"),
            ..Param::new("color")
        },
        Param::new("count"),
    ];

    #[test]
    fn a_schema_that_clients_accept() {
        let schema = InputSchema::of::<(Leaf, (Color, (Option<i64>, ())))>(PARAMS);
        insta::assert_json_snapshot!(*schema.finished);
    }
}
