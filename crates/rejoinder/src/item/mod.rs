//! What a server offers: tools, prompts and resources, in the form the server runs them.

mod function;
mod gated;
mod prompt;
mod resource;
mod tool;

pub use function::{Callee, Function, IconDetails, ListedAs, Output, blocking};
pub(crate) use function::{ItemArgument, ItemFunction, OutputStream, Ready};
pub use gated::Gated;
pub use prompt::{Prompt, PromptDetails};
pub use resource::{Resource, ResourceDetails};
pub use tool::{Annotations, Tool, ToolDetails};

#[cfg(test)]
mod tests;
