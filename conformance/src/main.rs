//! The fixture server of the official MCP conformance suite, and a showcase: this is what such a server takes.

#![expect(unreachable_pub, reason = "a program exports nothing, and `pub` reads better than `pub(crate)`")]

mod dynamic;
mod prompts;
mod resources;
mod tools;

use rejoinder::prelude::*;

/// The smallest PNG there is: one red pixel.
pub const PNG: &[u8] = include_bytes!("pixel.png");

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    Server::new("rejoinder-conformance", env!("CARGO_PKG_VERSION"))
        .tools(tools![
            tools::test_simple_text,
            tools::test_image_content,
            tools::test_audio_content,
            tools::test_embedded_resource,
            tools::test_multiple_content_types,
            tools::test_error_handling,
            tools::test_tool_with_progress,
            tools::test_tool_with_logging,
            tools::test_logging_tool,
            tools::test_streaming_elicitation,
            tools::test_reconnection,
            tools::test_custom_header,
            tools::test_missing_capability,
            tools::test_trigger_tool_change,
            tools::test_trigger_prompt_change,
        ])
        .tools([dynamic::json_schema_2020_12_tool()])
        .prompts(prompts![
            prompts::test_simple_prompt,
            prompts::test_prompt_with_arguments,
            prompts::test_prompt_with_embedded_resource,
            prompts::test_prompt_with_image,
        ])
        .resources(resources![
            resources::static_text,
            resources::static_binary,
            resources::template,
            resources::watched,
        ])
        .serve_from_args()
        .await
}
