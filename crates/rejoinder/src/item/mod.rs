//! What a server offers: tools, prompts and resources, in the form the server runs them.

mod details;
mod dynamic;
mod function;
mod prompt;
mod ready;
mod resource;
mod tool;

pub use details::{Annotations, IconDetails, PromptDetails, ResourceDetails, ToolDetails};
pub use function::{Callee, Function, Output, PromptFunction, ResourceFunction, ToolFunction};
pub use prompt::Prompt;
pub(crate) use ready::{Reader, Ready};
pub use resource::Resource;
pub use tool::Tool;

#[cfg(test)]
mod tests;
