//! What a client that cannot be asked is told.

use serde_json::Value;

/// Says what the client cannot be asked for, and which declarations are missing.
pub(super) fn sentence(required: &Value) -> String {
    let missing = paths(required);
    let cannot = match missing.as_slice() {
        [one] => asked_for(one),
        _ => "what this needs",
    };
    let named: Vec<_> = missing.iter().map(|path| format!("`{path}`")).collect();
    format!("the client cannot be asked {cannot}: it did not declare {}", named.join(" and "))
}

fn asked_for(path: &str) -> &'static str {
    match path {
        "elicitation" => "to let the user answer",
        "elicitation.form" => "to fill in forms",
        "elicitation.url" => "to send the user to a page",
        "sampling" => "for a sample of its model",
        "sampling.tools" => "for a sample of its model with tools",
        "sampling.context" => "for a sample of its model with context",
        "roots" => "for its roots",
        _ => "for what this needs",
    }
}

/// The innermost members of an object of objects, each with the way to it.
fn paths(required: &Value) -> Vec<String> {
    let members = required.as_object().into_iter().flatten();
    let below = |(name, value): (&String, &Value)| match paths(value) {
        inner if inner.is_empty() => vec![name.clone()],
        inner => inner.into_iter().map(|inner| format!("{name}.{inner}")).collect(),
    };
    members.flat_map(below).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_capability_is_named() {
        for (required, told) in [
            (
                json!({ "elicitation": { "url": {} } }),
                "to send the user to a page: it did not declare `elicitation.url`",
            ),
            (json!({ "sampling": {} }), "for a sample of its model: it did not declare `sampling`"),
            (json!({ "roots": {} }), "for its roots: it did not declare `roots`"),
            (json!({ "com.example/x": {} }), "for what this needs: it did not declare `com.example/x`"),
            (json!({ "roots": {}, "sampling": {} }), "what this needs: it did not declare `roots` and `sampling`"),
        ] {
            assert_eq!(sentence(&required), format!("the client cannot be asked {told}"));
        }
    }
}
