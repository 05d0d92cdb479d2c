//! The intended differences from the Python SDK and their reasons, with the exact values of both. A difference that is not
//! listed, or is listed and does not occur, fails the test.
//!
//! Not compared: the texts of errors; the titles that pydantic gives to
//! forms and fields; the order of what happens concurrently; the contents of a sealed state. `ref_tools:who` is
//! called `who` here: the key of a question is the resolver's name, without its module.

use serde_json::{Value, json};

use crate::{
    compare::{Difference, Purpose},
    recorded::{SESSION, STATELESS},
};

pub(crate) fn on_purpose() -> Vec<Purpose> {
    let (name, yes) = (field("name", "string"), field("ok", "boolean"));
    vec![
        purpose(
            "A value for a parameter that the model may not supply is refused, like any argument that does not exist: \
             the sender believes that it has an effect. Python ignores it.",
            [
                at(STATELESS, "pure-spoof", 1, "isError", json!(false), json!(true)),
                at(STATELESS, "pure-spoof", 1, "ran", json!(["body", "price"]), json!([])),
                at(STATELESS, "pure-spoof", 1, "text", json!("Dune: 4"), Value::Null),
                at(STATELESS, "pure-spoof", 1, "structuredContent", json!({ "result": "Dune: 4" }), Value::Null),
            ],
        ),
        purpose(
            "A form that comes back unusable is asked for again with the reason, three times in all; then the call \
             fails as Python's does at once, which loses every earlier answer to a slip.",
            [
                at(STATELESS, "accept-no-content", 2, "resultType", json!("complete"), json!("input_required")),
                at(STATELESS, "accept-no-content", 2, "isError", json!(true), Value::Null),
                at(STATELESS, "accept-no-content", 2, "requestState", json!(false), json!(true)),
                at(
                    STATELESS,
                    "accept-no-content",
                    2,
                    "questions",
                    json!({}),
                    json!({ "who": form("Who?\n\n`name` is missing", &name) }),
                ),
                at(
                    SESSION,
                    "accept-no-content",
                    1,
                    "questions",
                    json!([form("Who?", &name)]),
                    json!([
                        form("Who?", &name),
                        form("Who?\n\n`name` is missing", &name),
                        form("Who?\n\n`name` is missing", &name),
                    ]),
                ),
                at(
                    SESSION,
                    "accept-mismatch",
                    1,
                    "questions",
                    json!([form("Who?", &name)]),
                    json!([
                        form("Who?", &name),
                        form("Who?\n\n`name` must be a string", &name),
                        form("Who?\n\n`name` must be a string", &name),
                    ]),
                ),
            ],
        ),
        purpose(
            "Resolvers that do not need each other run at the same time, so on a session both have asked when the answer \
             to one ends the call. Python runs one after the other.",
            [
                at(SESSION, "batch-decline-one", 1, "ran", json!(["who"]), json!(["sure", "who"])),
                at(
                    SESSION,
                    "batch-decline-one",
                    1,
                    "questions",
                    json!([form("Who?", &name)]),
                    json!([form("Sure?", &yes), form("Who?", &name)]),
                ),
            ],
        ),
        purpose(
            "The protocol keeps the codes from -32099 to -32020 to itself, and forbids those that it has not given a \
             meaning: an author's code from there is sent as an internal error. Python sends it.",
            [at(
                STATELESS,
                "resolver-mcperror",
                1,
                "error",
                json!({ "code": -32099, "data": { "k": 1 } }),
                json!({ "code": -32603, "data": { "k": 1 } }),
            )],
        ),
        purpose(
            "An error that has no data has no data. Python sends an empty text.",
            [at(
                STATELESS,
                "malformed-response",
                2,
                "error",
                json!({ "code": -32602, "data": "" }),
                json!({ "code": -32602, "data": null }),
            )],
        ),
        purpose(
            "The protocol lets a sample be one block or a list of them, so a list is an answer, and its text is read. \
             Python takes one only where the question offers tools, and else for an answer of the wrong kind.",
            [
                at(STATELESS, "sample-array", 2, "isError", json!(true), json!(false)),
                at(STATELESS, "sample-array", 2, "ran", json!(["sample"]), json!(["body", "sample"])),
                at(STATELESS, "sample-array", 2, "text", Value::Null, json!("hey")),
                at(STATELESS, "sample-array", 2, "structuredContent", Value::Null, json!({ "result": "hey" })),
            ],
        ),
        purpose(
            "A form within a form does not compile, so no tool asks for one, and `fill_bad` is the name of nothing. \
             Python finds out when the tool is called.",
            [
                at(SESSION, "bad-schema", 1, "error", Value::Null, json!({ "code": -32602, "data": null })),
                at(SESSION, "bad-schema", 1, "isError", json!(true), Value::Null),
                at(SESSION, "bad-schema", 1, "ran", json!(["bad"]), json!([])),
            ],
        ),
        purpose(
            "A tool may make its rounds by hand beside resolvers that ask nothing: it goes on with what it handed on, over a \
             session in the same call. Beside one that asks it does not compile. Python fails beside any, when the tool is \
             called.",
            [
                at(SESSION, "body-input-required", 1, "isError", json!(true), json!(false)),
                at(SESSION, "body-input-required", 1, "text", Value::Null, json!("x/1")),
                at(SESSION, "body-input-required", 1, "structuredContent", Value::Null, json!({ "result": "x/1" })),
            ],
        ),
    ]
}

fn purpose(why: &'static str, differences: impl Into<Vec<Difference>>) -> Purpose {
    Purpose { why, differences: differences.into() }
}

fn at(era: &'static str, case: &str, step: usize, field: &str, theirs: Value, ours: Value) -> Difference {
    Difference { era, case: case.to_owned(), step, field: field.to_owned(), theirs, ours }
}

/// A form of one field.
fn field(name: &str, kind: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": kind } }, "required": [name] })
}

/// The question to fill it in.
fn form(message: &str, schema: &Value) -> Value {
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}
