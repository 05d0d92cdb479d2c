//! The tools, each of which shows one behaviour. The names of tools and parameters are those of the Python server.

use rejoinder::{
    ask::{Roots, Sample},
    model::CallToolResult,
    prelude::*,
    reply::{IntoToolResult, OutputSchema},
};
use serde_json::{Value, json};

use crate::{
    resolvers::{
        Form, User, Yes, a, after_sample, anon, b, boom, boom_mcp, boom_tool, combine, deploy, form, maybe, one, price,
        roots, sample, sample_tools, sure, sure_as, taxed, third, volatile, who,
    },
    script::Script,
};

/// A text, repeated as `structuredContent`, as the Python SDK does for a function that returns a `str`.
pub struct PythonText(pub String);

impl IntoToolResult for PythonText {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        let structured = json!({ "result": self.0 });
        let mut reply = self.0.into_tool_result()?;
        reply.structured_content = Some(structured);
        Ok(reply)
    }

    fn output_schema() -> Option<OutputSchema> {
        Json::<String>::output_schema()
    }
}

/// A yes or no, as Python writes it.
pub fn yes_no(yes: bool) -> &'static str {
    if yes { "True" } else { "False" }
}

/// What the user did, as the protocol names it.
pub fn action<T>(outcome: &Outcome<T>) -> &'static str {
    match outcome {
        Outcome::Accepted(_) => "accept",
        Outcome::Declined => "decline",
        Outcome::Cancelled => "cancel",
    }
}

#[tool]
pub fn quote(title: String, #[resolve(price)] p: usize, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(format!("{title}: {p}"))
}

#[tool]
pub fn quote2(
    #[expect(unused_variables, reason = "its resolvers take it")] title: String,
    #[resolve(price)] p: usize,
    #[resolve(taxed)] t: usize,
    script: Dep<Script>,
) -> PythonText {
    script.ran("body");
    PythonText(format!("{p}/{t}"))
}

#[tool]
pub fn whoami(#[resolve(who)] u: User, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(u.name)
}

#[tool]
pub fn whoami_union(#[resolve(who)] u: Outcome<User>, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(action(&u).to_owned())
}

#[tool]
pub fn both(#[resolve(who)] u: &User, #[resolve(sure)] y: &Yes, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(format!("{}/{}", u.name, yes_no(y.ok)))
}

#[tool]
pub fn chain(
    #[resolve(who)] u: &User,
    #[resolve(sure_as)] y: &Yes,
    #[resolve(third)] z: &Yes,
    script: Dep<Script>,
) -> PythonText {
    script.ran("body");
    PythonText(format!("{}/{}/{}", u.name, yes_no(y.ok), yes_no(z.ok)))
}

#[tool]
pub fn nested(#[resolve(combine)] c: String, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(c)
}

#[tool]
pub fn rm(
    #[expect(unused_variables, reason = "its resolver takes it")] path: String,
    #[resolve(maybe)] y: Outcome<Yes>,
    script: Dep<Script>,
) -> PythonText {
    script.ran("body");
    PythonText(action(&y).to_owned())
}

#[tool]
pub fn ship(#[resolve(deploy)] y: &Yes, #[resolve(who)] u: &User, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(format!("{}/{}", yes_no(y.ok), u.name))
}

#[tool]
pub fn fill(#[resolve(form)] f: Form, script: Dep<Script>) -> Json<Form> {
    script.ran("body");
    Json(f)
}

#[tool]
pub fn complete(#[resolve(sample)] s: &Sample, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(s.text())
}

/// Returns the class that the Python SDK uses for the answer.
#[tool]
pub fn complete_tools(#[resolve(sample_tools)] s: &Sample, script: Dep<Script>) -> PythonText {
    script.ran("body");
    let class = match &s.content {
        Value::Array(_) => "list",
        block => match block["type"].as_str() {
            Some("text") => "TextContent",
            Some("image") => "ImageContent",
            Some("audio") => "AudioContent",
            Some("tool_use") => "ToolUseContent",
            Some("tool_result") => "ToolResultContent",
            _ => "unknown",
        },
    };
    PythonText(class.to_owned())
}

#[tool]
pub fn complete_keep(
    #[resolve(after_sample)] y: &Yes,
    #[resolve(sample)] s: &Sample,
    script: Dep<Script>,
) -> PythonText {
    script.ran("body");
    PythonText(format!("{}/{}", s.text(), yes_no(y.ok)))
}

#[tool]
pub fn ls(#[resolve(roots)] r: &Roots, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(r.roots.len().to_string())
}

#[tool]
pub fn mixed(
    #[resolve(who)] u: &User,
    #[resolve(sample)] s: &Sample,
    #[resolve(roots)] r: &Roots,
    script: Dep<Script>,
) -> PythonText {
    script.ran("body");
    PythonText(format!("{}/{}/{}", u.name, s.text(), r.roots.len()))
}

#[tool]
pub fn err(#[resolve(who)] _u: &User, #[resolve(boom)] _x: u32) -> PythonText {
    PythonText("x".to_owned())
}

#[tool]
pub fn err_tool(#[resolve(boom_tool)] _x: u32) -> PythonText {
    PythonText("x".to_owned())
}

#[tool]
pub fn err_mcp(#[resolve(boom_mcp)] _x: u32) -> PythonText {
    PythonText("x".to_owned())
}

#[tool]
pub fn factory(#[resolve(a::ask)] a: &User, #[resolve(b::ask)] b: &User, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(format!("{},{}", a.name, b.name))
}

#[tool]
pub fn spin(#[resolve(volatile)] _y: &Yes, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText("x".to_owned())
}

#[tool]
pub fn anonymous(#[resolve(who)] u: Outcome<User>, #[resolve(anon)] y: &Yes, script: Dep<Script>) -> PythonText {
    script.ran("body");
    PythonText(format!("{}/{}", action(&u), yes_no(y.ok)))
}

/// Makes a round by hand beside a resolver that asks nothing.
#[tool]
pub fn sneaky(#[resolve(one)] p: u32, rounds: Rounds) -> Reply<PythonText> {
    match rounds.state::<String>() {
        None => Reply::resume("x".to_owned()),
        Some(state) => Reply::done(PythonText(format!("{state}/{p}"))),
    }
}
