//! The fixture server of the official MCP conformance suite.

#![expect(unreachable_pub, reason = "a program exports nothing, and `pub` reads better than `pub(crate)`")]

mod dynamic;
mod prompts;
mod questions;
mod resources;
mod tasks;
mod tools;

use rejoinder::prelude::*;

/// A PNG of one red pixel.
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
            tools::test_reconnection,
            tools::test_custom_header,
            tools::test_missing_capability,
            tools::test_trigger_tool_change,
            tools::test_trigger_prompt_change,
        ])
        .tools(tools![
            questions::test_sampling,
            questions::test_elicitation,
            questions::test_elicitation_sep1034_defaults,
            questions::test_elicitation_sep1330_enums,
            questions::test_streaming_elicitation,
            questions::test_input_required_result_elicitation,
            questions::test_input_required_result_sampling,
            questions::test_input_required_result_list_roots,
            questions::test_input_required_result_request_state,
            questions::test_input_required_result_tampered_state,
            questions::test_input_required_result_multiple_inputs,
            questions::test_input_required_result_multi_round,
            questions::test_input_required_result_capabilities,
        ])
        .tools(tools![
            tasks::greet,
            tasks::slow_compute,
            tasks::failing_job,
            tasks::protocol_error_job,
            tasks::confirm_delete,
            tasks::multi_input,
            tasks::test_tool_with_task,
        ])
        .tools([dynamic::json_schema_2020_12_tool()])
        .prompts(prompts![
            prompts::test_simple_prompt,
            prompts::test_prompt_with_arguments,
            prompts::test_prompt_with_embedded_resource,
            prompts::test_prompt_with_image,
            questions::test_input_required_result_prompt,
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
