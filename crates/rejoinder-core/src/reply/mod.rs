//! What a function may return, and what becomes of it.

mod by_hand;
mod content;
mod failure;
mod json;
mod part;
mod prompt;
mod replying;
mod resource;
mod returnable;
mod tool;

pub use by_hand::Reply;
pub use content::{Audio, Image, Text};
pub use failure::Failure;
pub use json::{Json, Structured};
pub use part::{Doubted, NotWrapped, Outermost, Wraps, layer};
pub use prompt::IntoPrompt;
pub use replying::{NotReply, Replied, Replies, Replying};
pub use resource::{Blob, IntoResource, ResourceBody};
pub use returnable::{
    Carried, PromptFailure, PromptReply, ResolverFailure, ResourceFailure, ResourceReply, ToolFailure, ToolReply,
};
pub use tool::IntoReply;
