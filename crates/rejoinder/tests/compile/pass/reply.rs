//! The valid counterparts of `fail/reply`.

use rejoinder::{model, prelude::*, reply::{IntoCallError, IntoToolResult}};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    total: i64,
}

struct Mine;

impl IntoToolResult for Mine {
    fn into_tool_result(self) -> Result<model::CallToolResult, CallError> {
        "mine".into_tool_result()
    }
}

#[tool]
fn nothing() {}

#[tool]
async fn mine() -> Mine {
    Mine
}

/// An error of the author's own.
struct NotASum;

impl IntoCallError for NotASum {
    fn into_call_error(self) -> CallError {
        CallError::new("not a sum")
    }
}

#[tool]
fn structured(a: i64, b: i64) -> Result<Json<Sum>, NotASum> {
    Ok(Json(Sum { total: a + b }))
}

#[tool]
fn readable() -> Result<&'static str, CallError> {
    Err(CallError::new("no"))
}

/// An alias is looked through.
type Replied<T> = Result<Reply<T>, CallError>;

#[tool]
fn wrapped(a: i64, b: i64, _rounds: Rounds) -> Replied<Json<Sum>> {
    Ok(Reply::done(Json(Sum { total: a + b })))
}

#[prompt]
fn review(lines: u32) -> String {
    lines.to_string()
}

#[resource("notes://all")]
fn notes() -> Result<Vec<u8>, CallError> {
    Ok(std::fs::read("notes")?)
}

fn main() {
    let _ = (tools![nothing, mine, structured, readable, wrapped], prompts![review], resources![notes]);
}
