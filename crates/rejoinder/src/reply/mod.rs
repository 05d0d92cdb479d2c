//! What a function may return: text, JSON, images, and your own types.

mod by_hand;
mod content;
mod failure;
mod json;
mod prompt;
mod resource;
mod tool;

pub use by_hand::Reply;
pub use content::{Audio, Image, Text};
pub(crate) use failure::Failure;
pub use json::Json;
pub(crate) use json::Structured;
pub use prompt::IntoPromptResult;
pub(crate) use resource::ResourceBody;
pub use resource::{Blob, IntoResourceContents};
pub use tool::IntoToolResult;

pub use crate::schema::OutputSchema;
