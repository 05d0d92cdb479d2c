use rejoinder::{
    model::CallToolResult,
    prelude::*,
    reply::{IntoToolResult, OutputSchema},
};
use serde_json::json;

/// A text, and the same as `structuredContent`: what the Python SDK makes of a function that returns a `str`.
pub struct Said(pub String);

impl IntoToolResult for Said {
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
