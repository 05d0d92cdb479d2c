//! What a function may return, and what becomes of it.

mod by_hand;
mod content;
mod failure;
mod json;
mod prompt;
mod replying;
mod resource;
mod tool;

pub use by_hand::Reply;
pub use content::{Audio, Image, Text};
pub use failure::Failure;
pub use json::{Json, Structured};
pub use prompt::IntoPrompt;
pub use replying::{Replying, prompt_reply, resource_reply, tool_reply};
pub use resource::{Blob, IntoResource, ResourceBody};
pub use tool::IntoReply;
