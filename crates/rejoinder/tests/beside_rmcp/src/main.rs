//! A tool of rejoinder whose result the types of rmcp read. `cargo xtask test` runs it.

use rejoinder::{model, tool, tools};

/// Adds two numbers.
#[tool]
async fn add(a: u32, b: u32) -> u32 {
    a + b
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    rejoinder::Server::new("beside-rmcp", "1").tools(tools![add]).build()?;

    let ours = model::CallToolResult::success(vec![model::ContentBlock::text("3")]);
    let theirs: rmcp::model::CallToolResult = serde_json::from_value(serde_json::to_value(&ours)?)?;
    let again: model::CallToolResult = serde_json::from_value(serde_json::to_value(theirs)?)?;
    assert_eq!(again, ours);
    Ok(())
}
