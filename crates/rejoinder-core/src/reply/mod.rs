//! What a function may return, and what becomes of it.

mod content;
mod json;
mod prompt;
mod resource;
mod tool;

pub use content::{Audio, Image, Text};
pub use json::Json;
pub use prompt::IntoPrompt;
pub use resource::{Blob, IntoResource, ResourceBody};
pub use tool::IntoReply;
