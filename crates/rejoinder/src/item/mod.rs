//! What a server offers: tools, prompts and resources, in the form the server runs them.

mod function;
mod gated;
mod prompt;
mod resource;
mod tool;

pub use function::{Callee, Function, ItemDetails, ListedAs, blocking};
pub(crate) use function::{ItemArgument, ItemFunction};
pub use gated::Gated;
pub use prompt::Prompt;
pub use resource::Resource;
pub use tool::Tool;

#[cfg(test)]
mod tests;
