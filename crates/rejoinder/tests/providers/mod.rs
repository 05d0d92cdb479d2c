//! The published rules of model providers for tools, and the tools that break them.

use serde_json::{Map, Value};

/// What a provider accepts as a tool. What all of them require is in [`violations`].
struct Provider {
    name: &'static str,
    /// Where the rules are published.
    source: &'static str,
    /// Keywords that it refuses anywhere in a schema.
    refused: &'static [&'static str],
    /// Keywords that it refuses at the root of a schema.
    refused_at_root: &'static [&'static str],
    /// The signs that names of tools, and of arguments, may have beside letters, digits and `_`.
    signs: (&'static str, &'static str),
    /// Whether an object may have properties that are not listed.
    takes_maps: bool,
}

const PROVIDERS: [Provider; 4] = [
    Provider {
        name: "OpenAI",
        source: "https://platform.openai.com/docs/guides/function-calling",
        refused: &[],
        refused_at_root: &["oneOf", "anyOf", "allOf", "enum", "not"],
        signs: ("-", "-."),
        takes_maps: true,
    },
    Provider {
        name: "OpenAI, strict",
        source: "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
        refused: &[
            "oneOf",
            "allOf",
            "not",
            "if",
            "then",
            "else",
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
            "propertyNames",
            "unevaluatedProperties",
            "unevaluatedItems",
            "contains",
            "uniqueItems",
            "minProperties",
            "maxProperties",
        ],
        refused_at_root: &["anyOf"],
        signs: ("-", "-."),
        takes_maps: false,
    },
    Provider {
        name: "Anthropic",
        source: "https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use",
        refused: &[],
        refused_at_root: &["oneOf", "anyOf", "allOf"],
        signs: ("-", "-."),
        takes_maps: true,
    },
    Provider {
        name: "Gemini",
        source: "https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration, \
                 https://ai.google.dev/api/generate-content#generationconfig (`responseJsonSchema`)",
        refused: &[
            "const",
            "allOf",
            "not",
            "if",
            "then",
            "else",
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
            "propertyNames",
            "unevaluatedProperties",
            "unevaluatedItems",
            "contains",
            "uniqueItems",
        ],
        refused_at_root: &[],
        signs: ("-.", ""),
        takes_maps: true,
    },
];

/// The rules that a tool of a list breaks, each as a sentence.
pub(crate) fn violations(tool: &Value) -> Vec<String> {
    let (name, schema) = (tool["name"].as_str().unwrap_or_default(), &tool["inputSchema"]);
    let mut broken = Vec::new();
    if schema["type"] != "object" {
        broken.push(format!("{name}: the arguments are not an object"));
    }
    let arguments: Vec<_> = schema["properties"].as_object().into_iter().flat_map(Map::keys).collect();
    for provider in &PROVIDERS {
        let mut report = |what: String| broken.push(format!("{name}: {what} ({}: {})", provider.name, provider.source));
        let (tool_signs, argument_signs) = provider.signs;
        if !is_name(name, tool_signs) {
            report("the name of the tool".to_owned());
        }
        for argument in arguments.iter().filter(|argument| !is_name(argument, argument_signs)) {
            report(format!("the name of the argument `{argument}`"));
        }
        for keyword in provider.refused_at_root.iter().filter(|keyword| schema.get(**keyword).is_some()) {
            report(format!("`{keyword}` at the root"));
        }
        for_each_schema(schema, &mut |schema| {
            for keyword in provider.refused.iter().filter(|keyword| schema.contains_key(**keyword)) {
                report(format!("`{keyword}`"));
            }
            let more = schema.get("additionalProperties");
            if !provider.takes_maps && more.is_some_and(|more| *more != false) {
                report("a map".to_owned());
            }
        });
    }
    for_each_schema(schema, &mut |schema| {
        let is_array = schema.get("type").is_some_and(|kind| kind == "array");
        if is_array && !schema.contains_key("items") {
            broken.push(format!("{name}: an array without `items`"));
        }
        if schema.contains_key("properties") && !schema.contains_key("required") {
            broken.push(format!("{name}: an object without `required`"));
        }
    });
    broken
}

fn is_name(name: &str, signs: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || signs.contains(c))
}

/// Visits a schema and all schemas inside it.
fn for_each_schema(schema: &Value, visit: &mut impl FnMut(&Map<String, Value>)) {
    let Value::Object(schema) = schema else { return };
    visit(schema);
    for (keyword, inside) in schema {
        match (keyword.as_str(), inside) {
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                named.values().for_each(|schema| for_each_schema(schema, visit));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| for_each_schema(schema, visit));
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", schema) => {
                for_each_schema(schema, visit);
            }
            _ => {}
        }
    }
}
