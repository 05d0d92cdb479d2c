use std::time::Duration;

use rejoinder::{
    http::ReplyStream,
    model::{ContentBlock, ResourceContents},
    prelude::*,
};
use serde_json::json;
use tokio::time::sleep;

use crate::{PNG, prompts};

/// Plain text.
#[tool]
pub async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// An image.
#[tool]
pub async fn test_image_content() -> Image {
    Image::new("image/png", PNG)
}

/// A sound.
#[tool]
pub async fn test_audio_content() -> Audio {
    Audio::new("audio/wav", b"RIFF\x24\0\0\0WAVEfmt ")
}

/// A resource inside a result.
#[tool]
pub async fn test_embedded_resource() -> ContentBlock {
    ContentBlock::resource(ResourceContents::text("test://embedded-resource", "This is an embedded resource."))
}

/// Text, an image and a resource at once.
#[tool]
pub async fn test_multiple_content_types() -> [ContentBlock; 3] {
    let json = ResourceContents::text("test://mixed-content-resource", r#"{"test":"data"}"#);
    [
        ContentBlock::text("Multiple content types test:"),
        Image::new("image/png", PNG).into(),
        ContentBlock::resource(json.with_mime_type("application/json")),
    ]
}

/// An error that the model reads.
#[tool]
pub async fn test_error_handling() -> Result<(), CallError> {
    Err(CallError::new("This tool intentionally returns an error for testing"))
}

/// Progress before the result.
#[tool]
pub async fn test_tool_with_progress(ctx: Context) -> &'static str {
    for step in [0.0, 50.0, 100.0] {
        ctx.progress(step).total(100.0).await;
        sleep(Duration::from_millis(50)).await;
    }
    "done"
}

/// Log messages before the result.
#[tool]
pub async fn test_tool_with_logging(ctx: Context) -> &'static str {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        ctx.info(text).await;
        sleep(Duration::from_millis(50)).await;
    }
    "done"
}

/// A log message, if the request wants one.
#[tool]
pub async fn test_logging_tool(ctx: Context) -> &'static str {
    ctx.info("logged").await;
    "done"
}

/// Closes the stream in the middle of the call. The client reconnects for the result.
#[tool]
pub async fn test_reconnection(stream: ReplyStream) -> &'static str {
    stream.disconnect(Duration::from_millis(200)).await;
    sleep(Duration::from_millis(100)).await;
    "you came back"
}

/// An argument that a header repeats.
#[tool]
pub async fn test_custom_header(#[arg(header = "Value")] value: String) -> String {
    value
}

/// Works only for clients that can sample.
#[tool]
pub async fn test_missing_capability(ctx: Context) -> Result<&'static str, CallError> {
    if !ctx.capabilities().sampling {
        return Err(CallError::missing_capability(json!({ "sampling": {} })));
    }
    Ok("the client can sample")
}

/// A tool that is added and removed.
#[tool]
async fn ephemeral() -> &'static str {
    "here"
}

/// Changes the list of tools, and changes it back.
#[tool]
pub async fn test_trigger_tool_change(server: ServerHandle) -> Result<&'static str, CallError> {
    server.add_tools(tools![ephemeral])?;
    server.remove_tool("ephemeral");
    Ok("changed and changed back")
}

/// Changes the list of prompts, and changes it back.
#[tool]
pub async fn test_trigger_prompt_change(server: ServerHandle) -> Result<&'static str, CallError> {
    server.add_prompts(prompts![prompts::ephemeral])?;
    server.remove_prompt("ephemeral");
    Ok("changed and changed back")
}
