//! The types of the Model Context Protocol that servers and clients touch: descriptions, results, content blocks,
//! capabilities, questions and their answers; and what both sides must agree on: versions, error codes, keys of `_meta`,
//! headers and event streams.
//!
//! A type has the names of the protocol and serialises as the protocol says. Members that it does not know survive a round
//! trip, in its field `other`. Structs and enums that may grow are `#[non_exhaustive]`: make them with a constructor and set
//! their fields.
//!
//! ```
//! use rejoinder_wire::{CallToolResult, ContentBlock};
//! use serde_json::json;
//!
//! let result = CallToolResult::success(vec![ContentBlock::text("3")]);
//! assert_eq!(
//!     json!(result),
//!     json!({ "resultType": "complete", "content": [{ "type": "text", "text": "3" }], "isError": false })
//! );
//! ```
//!
//! The crate has no runtime and no transport. [`rejoinder`](https://docs.rs/rejoinder) is the framework for servers.

#[macro_use]
mod object;

mod capabilities;
mod completion;
mod content;
mod discover;
mod elicitation;
pub mod error_code;
mod event_stream;
mod header;
pub mod header_name;
mod implementation;
pub mod meta_key;
mod other;
mod prompt;
mod resource;
mod sampling;
mod task;
mod tool;
pub mod version;

pub use capabilities::{
    ClientCapabilities, ElicitationCapability, PromptsCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, ServerCapabilities, ToolsCapability,
};
pub use completion::{CompletionInfo, Reference};
pub use content::{Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, Role, TextContent};
pub use discover::{CacheScope, DiscoverResult, ResultType};
pub use elicitation::{ElicitAction, ElicitForm, ElicitRequest, ElicitResult, ElicitUrl};
pub use event_stream::{EventDecoder, EventTooLong, ServerSentEvent};
pub use header::{decode_header, encode_header, header_equals, header_text};
pub use implementation::{Icon, IconTheme, Implementation};
pub use other::Other;
pub use prompt::{GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use resource::{ReadResourceResult, Resource, ResourceContents, ResourceData, ResourceTemplate};
pub use sampling::{Root, Roots, Sample, Sampling};
pub use task::{Task, TaskStatus};
pub use tool::{CallToolResult, Tool, ToolAnnotations};

/// An object of JSON, in the order in which its members were added.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
