use std::sync::Arc;

use rmcp::model::{CallToolResult, GetPromptResult};

use super::{Prompt, PromptDetails, Resource, ResourceDetails, Tool, ToolDetails};
use crate::{
    BoxFuture,
    call::{Call, ReadParams},
    error::Halt,
    graph::{ItemNode, Keys},
    reply::ResourceBody,
};

/// A function with all that the framework must know to call it. The macros implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool, prompt or resource",
    label = "write `#[tool]`, `#[prompt]` or `#[resource]` before this function"
)]
pub trait Function: ReadParams {
    /// Whose method it is; `()` for a free function.
    type Receiver: Send + Sync + 'static;

    /// [`ToolDetails`], [`PromptDetails`] or [`ResourceDetails`].
    type Details;

    /// What its attributes and doc comments say.
    const DETAILS: Self::Details;

    /// Its place in the graph.
    fn node() -> &'static ItemNode<'static>;

    /// Fills the parameters and calls it.
    fn run(
        callee: Arc<Callee<Self::Receiver>>,
        arguments: Self::Set,
        call: Call,
    ) -> BoxFuture<'static, Result<Output, Halt>>;
}

/// What all calls of one function share.
#[derive(Debug)]
pub struct Callee<T> {
    /// The value whose method it is.
    pub receiver: Arc<T>,
    /// The keys under which its resolvers ask.
    pub keys: Keys,
}

/// A free function marked `#[tool]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "write `#[tool]` before this function",
    note = "prompts go into `prompts![..]`, resources into `resources![..]`"
)]
pub trait ToolFunction {
    /// The tool that it is.
    fn tool() -> Tool;
}

/// A free function marked `#[prompt]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prompt",
    label = "write `#[prompt]` before this function",
    note = "tools go into `tools![..]`, resources into `resources![..]`"
)]
pub trait PromptFunction {
    /// The prompt that it is.
    fn prompt() -> Prompt;
}

/// A free function marked `#[resource]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource",
    label = "write `#[resource]` before this function",
    note = "tools go into `tools![..]`, prompts into `prompts![..]`"
)]
pub trait ResourceFunction {
    /// The resource that it is.
    fn resource() -> Resource;
}

#[diagnostic::do_not_recommend]
impl<F: Function<Details = ToolDetails, Receiver = ()>> ToolFunction for F {
    fn tool() -> Tool {
        Tool::of::<F>(Arc::new(()))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Function<Details = PromptDetails, Receiver = ()>> PromptFunction for F {
    fn prompt() -> Prompt {
        Prompt::of::<F>(Arc::new(()))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Function<Details = ResourceDetails, Receiver = ()>> ResourceFunction for F {
    fn resource() -> Resource {
        Resource::of::<F>(Arc::new(()))
    }
}

/// The result of a call.
#[derive(Debug)]
pub enum Output {
    /// A tool's result.
    Tool(CallToolResult),
    /// A prompt's messages.
    Prompt(GetPromptResult),
    /// What a resource holds.
    Resource(ResourceBody),
    /// Values for an argument that is being typed.
    Completion(Vec<String>),
}
