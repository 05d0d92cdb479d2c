//! The sound twins of `fail/reply`.

use rejoinder::{model, prelude::*, reply::IntoToolResult};

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

#[tool]
fn structured(a: i64, b: i64) -> Result<Json<Sum>, std::num::ParseIntError> {
    Ok(Json(Sum { total: a + b }))
}

#[tool]
fn told() -> Result<&'static str, CallError> {
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
fn notes() -> Result<Vec<u8>, std::io::Error> {
    Ok(Vec::new())
}

fn main() {
    let _ = (tools![nothing, mine, structured, told, wrapped], prompts![review], resources![notes]);
}
