//! What every client must see.

use serde_json::{Value, json};

/// How a client talks to the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Era {
    /// 2026-07-28: `server/discover`, then requests that stand alone.
    Stateless,
    /// 2025-11-25: `initialize`, then a session.
    Session,
}

/// Compares what a client saw with what it should have.
pub(crate) fn check(era: Era, seen: &Value) {
    let expected = expected(era);
    for (what, value) in expected.as_object().expect("an object") {
        assert_eq!(&seen[what], value, "{what}");
    }
    assert_eq!(seen, &expected);
}

fn expected(era: Era) -> Value {
    let (version, unknown_resource) = match era {
        Era::Stateless => ("2026-07-28", -32602),
        Era::Session => ("2025-11-25", -32002),
    };
    let bad_arguments = "Invalid arguments:\n\
        - `c`: unknown argument; the arguments are `a`, `b`\n\
        - `a`: expected an integer, got the string \"one\"\n\
        - `b`: it is required and was not sent";
    let welcome = "A function marked #[resource(\"..\")] returned this text.";
    json!({
        "version": version,
        "server": "rejoinder-tour",
        "instructions": "Small examples of everything that rejoinder offers. Start with the tool `add`.",
        "tools": ["add", "count_to", "roll", "write_note", "delete_note"],
        "arguments of add": { "a": "The first number", "b": "The second number" },
        "prompts": ["review"],
        "resources": ["notes://all"],
        "templates": ["note://{name}"],
        "add": ["3", false],
        "add with bad arguments": [bad_arguments, true],
        "count_to": "counted to 3",
        "progress": [[1.0, 3.0, "1"], [2.0, 3.0, "2"], [3.0, 3.0, "3"]],
        "roll": { "dice": 3, "adds up": true },
        "review": [["user", "Review this code. Be strict: name every flaw.\n\nx = 1"]],
        "welcome": [["note://welcome", "text/plain", welcome]],
        "write_note": "read it at note://to-do",
        "updated": "note://to-do",
        "written": [["note://to-do", "text/plain", "write tests"]],
        "completion": ["welcome"],
        "unknown tool": { "code": -32602, "message": "there is no tool `no_such_tool`" },
        "unknown note": { "code": unknown_resource, "message": "there is no note `lost`" },
        "after errors": "4",
    })
}
