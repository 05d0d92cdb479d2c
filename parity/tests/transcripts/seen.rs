//! What is compared: what a program could depend on, and no prose.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::recorded::STATELESS;

/// What one request showed, by what it shows. What is not there is `null`.
pub(crate) type Seen = BTreeMap<&'static str, Value>;

/// What is to be seen in a reply, in what a session asked before it, and in what ran.
pub(crate) fn seen(era: &str, http: Option<u64>, reply: &Value, asked: Vec<Value>, ran: Vec<Value>) -> Seen {
    let (result, error) = (&reply["result"], &reply["error"]);
    let mut seen = Seen::from([
        ("error", error.get("code").map_or(Value::Null, |code| json!({ "code": code, "data": error["data"] }))),
        ("isError", failed(result)),
        ("text", text(result)),
        ("structuredContent", result["structuredContent"].clone()),
        ("ran", sorted(ran)),
    ]);
    if era == STATELESS {
        let questions = result["inputRequests"].as_object().into_iter().flatten();
        let questions: Map<String, Value> = questions.map(|(key, one)| (key.clone(), question(one))).collect();
        seen.extend([
            ("http", http.into()),
            ("resultType", result["resultType"].clone()),
            ("questions", questions.into()),
            // Sealed: all that anybody can see is whether it is there.
            ("requestState", (!result["requestState"].is_null()).into()),
        ]);
    } else {
        seen.insert("questions", sorted(asked.iter().map(question).collect()));
    }
    seen
}

/// `isError` may be left out where nothing failed.
fn failed(result: &Value) -> Value {
    match result.get("content") {
        Some(_) => result["isError"].as_bool().unwrap_or_default().into(),
        None => Value::Null,
    }
}

/// The text of a tool's result, unless it is an error. JSON is compared by value.
fn text(result: &Value) -> Value {
    let text = &result["content"][0]["text"];
    if result["isError"] == true {
        return Value::Null;
    }
    text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| text.clone())
}

/// The parts of a question that mean something: not its titles, nor what marks it on the way.
fn question(request: &Value) -> Value {
    let mut params = request["params"].as_object().cloned().unwrap_or_default();
    params.remove("_meta");
    if let Some(schema) = params.get_mut("requestedSchema").and_then(Value::as_object_mut) {
        schema.remove("title");
        schema.entry("required").or_insert_with(|| json!([]));
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for property in properties.into_iter().flat_map(Map::values_mut) {
            property.as_object_mut().expect("a schema").remove("title");
        }
    }
    json!({ "method": request["method"], "params": params })
}

/// What runs, or is asked, at the same time has no order.
fn sorted(mut values: Vec<Value>) -> Value {
    values.sort_by_cached_key(|value| {
        let words = |part: &Value| part.as_str().unwrap_or_default().to_owned();
        [words(value), words(&value["method"]), words(&value["params"]["message"])]
    });
    values.into()
}
