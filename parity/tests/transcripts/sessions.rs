//! What the recorded sessions called, and what their user answered: of them, only questions and results are on record.

use serde_json::{Value, json};

/// One call on a session.
pub(crate) struct Session {
    case: &'static str,
    tool: &'static str,
    arguments: Value,
    /// By the first line of the message, or the method of a question that has none.
    answers: Vec<(&'static str, Value)>,
}

impl Session {
    pub(crate) fn params(&self) -> Value {
        json!({ "name": self.tool, "arguments": self.arguments })
    }

    pub(crate) fn answer(&self, question: &Value) -> Value {
        let message = question["params"]["message"].as_str().and_then(|message| message.lines().next());
        let asked = message.or(question["method"].as_str()).expect("a method");
        let answer = self.answers.iter().find(|(question, _)| *question == asked);
        answer.unwrap_or_else(|| panic!("{}: there is no answer to {question}", self.case)).1.clone()
    }
}

/// What a recorded session did.
pub(crate) fn of(case: &str) -> Session {
    let session = all().into_iter().find(|session| session.case == case);
    session.unwrap_or_else(|| panic!("the session `{case}` is not listed in sessions.rs"))
}

pub(crate) fn names() -> Vec<String> {
    all().into_iter().map(|session| session.case.to_owned()).collect()
}

fn all() -> Vec<Session> {
    let session = |case, tool, arguments, answers| Session { case, tool, arguments, answers };
    let asking = |case, tool, answers| session(case, tool, json!({}), answers);
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    let (ann, ok) = (|| accept(json!({ "name": "ann" })), |ok: bool| accept(json!({ "ok": ok })));
    let (decline, cancel) = (|| json!({ "action": "decline" }), || json!({ "action": "cancel" }));
    let hey = || {
        let content = json!({ "type": "text", "text": "hey" });
        ("sampling/createMessage", json!({ "role": "assistant", "content": content, "model": "m" }))
    };
    let folder = || ("roots/list", json!({ "roots": [{ "uri": "file:///a" }] }));
    vec![
        session("pure", "quote", json!({ "title": "Dune" }), vec![]),
        session("pure-shared", "quote2", json!({ "title": "Dune" }), vec![]),
        session("bad-args", "quote", json!({}), vec![]),
        session("conditional-skip", "rm", json!({ "path": "/empty" }), vec![]),
        asking("ask-accept", "whoami", vec![("Who?", ann())]),
        asking("ask-decline", "whoami", vec![("Who?", decline())]),
        asking("union-accept", "whoami_union", vec![("Who?", ann())]),
        asking("union-decline", "whoami_union", vec![("Who?", decline())]),
        asking("union-cancel", "whoami_union", vec![("Who?", cancel())]),
        asking("accept-no-content", "whoami", vec![("Who?", json!({ "action": "accept" }))]),
        asking("accept-mismatch", "whoami", vec![("Who?", accept(json!({ "name": 5 })))]),
        asking("accept-lax", "ship", vec![("Deploy to prod?", accept(json!({ "ok": "yes" }))), ("Who?", ann())]),
        asking("batch", "both", vec![("Who?", ann()), ("Sure?", ok(true))]),
        asking("batch-decline-one", "both", vec![("Who?", decline()), ("Sure?", ok(true))]),
        asking("chain", "chain", vec![("Who?", ann()), ("Go as ann?", ok(true)), ("Third?", ok(false))]),
        asking("anon-decline", "anonymous", vec![("Who?", decline()), ("decline: proceed?", ok(true))]),
        asking(
            "factory-keys",
            "factory",
            vec![("A?", accept(json!({ "name": "a" }))), ("B?", accept(json!({ "name": "b" })))],
        ),
        asking("form-schema", "fill", vec![("Fill", accept(json!({ "colour": "green", "count": 2 })))]),
        asking("bad-schema", "fill_bad", vec![]),
        asking("sample", "complete", vec![hey()]),
        asking("sample-tools-single", "complete_tools", vec![hey()]),
        asking("roots", "ls", vec![folder()]),
        asking("mixed-kinds", "mixed", vec![("Who?", ann()), hey(), folder()]),
        asking("resolver-toolerror", "err_tool", vec![]),
        asking("body-input-required", "sneaky", vec![]),
    ]
}
