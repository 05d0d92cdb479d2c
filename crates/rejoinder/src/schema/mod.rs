//! JSON Schema (2020-12) that clients accept: of a function's arguments and of its structured result.

mod check;
mod clean;
mod types;
mod variants;

use std::{any::TypeId, sync::Arc};

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json, value::RawValue};

pub(crate) use self::{
    check::{ArgumentCheck, SchemaCheck},
    types::Types,
};
use self::{
    clean::{clean_input, clean_output, drop_number_formats, without_null},
    variants::{Variants, variants_in},
};
use crate::{
    call::{Argument, ArgumentError, ArgumentSet, Param},
    form::Matching,
};

/// The generator of all schemas. Subschemas are inlined, because many clients show an enum behind a `$ref` as free text.
/// Only a recursive type has a `$ref`, to a definition that is part of the schema.
pub(crate) fn generator(contract: impl FnOnce(SchemaSettings) -> SchemaSettings) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    contract(settings).into_generator()
}

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

/// What is wrong with a value by the schema of its type, if anything is.
pub(crate) fn misfit(schema: fn(&mut SchemaGenerator) -> Value, json: &RawValue) -> Option<ArgumentError> {
    let schema = schema(&mut generator(|settings| settings.for_deserialize()));
    let mut value = serde_json::from_str(json.get()).ok()?;
    SchemaCheck::new(&schema, &[]).check_node(0, &mut value, &Matching::default()).err()?.into_iter().next()
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

/// The schema of a structured result.
///
/// A result that is not an object is sent as `{"result": ..}`, because clients before 2026-07-28 accept only objects.
///
/// ```
/// use rejoinder::reply::OutputSchema;
///
/// let text = OutputSchema::of::<String>();
/// assert_eq!(text.schema["properties"]["result"]["type"], "string");
/// ```
#[derive(Debug, Clone)]
pub struct OutputSchema {
    /// The schema, always of an object.
    pub schema: Arc<Map<String, Value>>,
}

impl OutputSchema {
    /// The schema of `T` as a result.
    pub fn of<T: JsonSchema>() -> Self {
        let mut generator = generator(|settings| settings.for_serialize());
        let mut schema: Value = generator.subschema_for::<T>().into();
        let mut definitions = generator.take_definitions(true);
        match SchemaCheck::new(&json!({ "allOf": [schema], "$defs": definitions }), &[]).accepts() {
            Types::OBJECT => schema["type"] = "object".into(),
            types if !types.meet(Types::OBJECT) => {
                schema = json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] });
            }
            // Whether the result is wrapped depends on the value, so the schema promises only an object.
            _ => {
                schema = json!({ "type": "object" });
                definitions.clear();
            }
        }
        clean_output(&mut schema);
        let Value::Object(mut schema) = schema else { unreachable!("every branch makes an object") };
        if !definitions.is_empty() {
            definitions.values_mut().for_each(clean_output);
            schema.insert("$defs".into(), definitions.into());
        }
        Self { schema: Arc::new(schema) }
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::call::ArgumentDefault;

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

    #[derive(Serialize, JsonSchema)]
    struct Sum {
        total: i64,
        carry: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    #[derive(Serialize, JsonSchema)]
    struct Tree {
        children: Vec<Tree>,
    }

    fn schema<T: JsonSchema>() -> Value {
        Value::Object((*OutputSchema::of::<T>().schema).clone())
    }

    fn is_wrapped(schema: &Value) -> bool {
        schema["required"] == json!(["result"])
    }

    #[test]
    fn an_option_that_is_always_sent_is_required_and_may_be_null() {
        let schema = schema::<Sum>();
        assert_eq!(schema["required"], json!(["total", "carry"]));
        assert_eq!(schema["properties"]["carry"], json!({ "type": ["integer", "null"] }));
    }

    #[test]
    fn a_result_that_is_not_an_object_is_wrapped() {
        let wrapped =
            json!({ "type": "object", "properties": { "result": { "type": "string" } }, "required": ["result"] });
        assert_eq!(schema::<String>(), wrapped);
        for schema in [schema::<Option<u8>>(), schema::<Vec<Sum>>(), schema::<(u8, u8)>()] {
            assert!(is_wrapped(&schema), "{schema}");
        }
    }

    #[test]
    fn an_enum_of_objects_is_an_object() {
        let schema = schema::<Shape>();
        assert!(!is_wrapped(&schema));
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["oneOf"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_result_that_may_be_an_object_promises_only_an_object() {
        assert_eq!(schema::<Option<Sum>>(), json!({ "type": "object" }));
        assert_eq!(schema::<Value>(), json!({ "type": "object" }));
    }

    #[test]
    fn a_recursive_type_includes_its_definition() {
        let schema = schema::<Tree>();
        assert!(!is_wrapped(&schema));
        assert_eq!(schema["properties"]["children"]["items"]["$ref"], "#/$defs/Tree");
        assert_eq!(schema["$defs"]["Tree"]["type"], "object");
    }
}
