//! What a function may return: text, JSON, images, and your own types.

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
pub(crate) use failure::Failure;
pub use json::Json;
pub(crate) use json::Structured;
#[doc(hidden)]
pub use part::{Doubted, NotWrapped, Outermost, Wraps};
pub use prompt::IntoPromptResult;
#[doc(hidden)]
pub use replying::{NotReply, Replied, Replies, Replying};
pub(crate) use resource::ResourceBody;
pub use resource::{Blob, IntoResourceContents};
#[doc(hidden)]
pub use returnable::{
    Carried, PromptFailure, PromptReply, ResolverFailure, ResourceFailure, ResourceReply, ToolFailure, ToolReply,
};
pub use tool::IntoToolResult;

pub use crate::schema::OutputSchema;
