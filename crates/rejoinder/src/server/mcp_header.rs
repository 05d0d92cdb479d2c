//! `x-mcp-header`: arguments that a client repeats in an `Mcp-Param-` header, so that proxies can route by them.

use serde_json::{Map, Value};

/// One such argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    /// The whole header's name, in lower case.
    pub(crate) header: String,
    /// The way to the argument, by property names.
    pub(crate) path: Vec<String>,
}

/// Finds them in a tool's input schema; what is wrong with them goes to `mistakes`.
pub(super) fn param_headers(schema: &Map<String, Value>, mistakes: &mut Vec<String>) -> Vec<ParamHeader> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), &mut found, mistakes);
    for (index, one) in found.iter().enumerate() {
        if found[..index].iter().any(|other| other.header == one.header) {
            mistakes.push(format!("the header `{}` is used for two arguments", one.header));
        }
    }
    let mut unreachable = Vec::new();
    misplaced(&Value::Object(schema.clone()), true, &mut unreachable);
    mistakes.append(&mut unreachable);
    found
}

fn walk(schema: &Map<String, Value>, path: &mut Vec<String>, found: &mut Vec<ParamHeader>, mistakes: &mut Vec<String>) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, property) in properties {
        let Value::Object(property) = property else { continue };
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header") {
            let at = path.join(".");
            match header.as_str().filter(|header| is_token(header)) {
                None => mistakes
                    .push(format!("`x-mcp-header` of `{at}` is {header}: it must be a header token such as `Region`")),
                Some(_) if !is_simple(property) => {
                    mistakes.push(format!(
                        "`x-mcp-header` of `{at}`: only a string, an integer or a boolean can be in a header"
                    ));
                }
                Some(header) => found.push(ParamHeader {
                    header: format!("mcp-param-{}", header.to_ascii_lowercase()),
                    path: path.clone(),
                }),
            }
        }
        walk(property, path, found, mistakes);
        path.pop();
    }
}

/// An annotation that is not reached through `properties` alone has no place in the arguments to be read from.
fn misplaced(schema: &Value, reachable: bool, mistakes: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            if !reachable && object.contains_key("x-mcp-header") {
                mistakes.push("`x-mcp-header` must be on a property, not inside an array or a combination".to_owned());
            }
            for (key, member) in object {
                if let (true, "properties", Value::Object(properties)) = (reachable, key.as_str(), member) {
                    properties.values().for_each(|property| misplaced(property, true, mistakes));
                } else {
                    misplaced(member, false, mistakes);
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| misplaced(member, false, mistakes)),
        _ => {}
    }
}

fn is_simple(property: &Map<String, Value>) -> bool {
    property.get("type").and_then(Value::as_str).is_some_and(|kind| matches!(kind, "string" | "integer" | "boolean"))
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
