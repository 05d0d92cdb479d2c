use std::sync::Arc;

use rmcp::model::{CallToolResult, GetPromptResult};

use super::{Prompt, PromptDetails, Resource, ResourceDetails, Tool, ToolDetails};
use crate::{
    BoxFuture,
    call::{Call, ReadParams},
    error::Halt,
    graph::ItemNode,
    inject::Need,
    reply::ResourceBody,
};

/// What the macros write: a function with all that the framework must know to call it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool, prompt or resource",
    label = "no `#[tool]`, `#[prompt]` or `#[resource]` on this function"
)]
pub trait Function: ReadParams {
    /// Whose method it is; `()` for a free function.
    type Receiver: Send + Sync + 'static;

    /// Tool, prompt or resource.
    type Kind: Kind;

    /// What its attributes and doc comments say.
    const DETAILS: <Self::Kind as Kind>::Details;

    /// Its place in the graph.
    fn node() -> &'static ItemNode<'static>;

    /// What its parameters need to have been provided, by parameter.
    fn needs() -> Vec<(&'static str, Need)>;

    /// Fills the parameters and calls it.
    fn run(receiver: Arc<Self::Receiver>, arguments: Self::Set, call: Call)
    -> BoxFuture<'static, Result<Output, Halt>>;
}

/// A free function marked `#[tool]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "no `#[tool]` on this function",
    note = "prompts go into `prompts![..]`, resources into `resources![..]`"
)]
pub trait ToolFunction {
    /// The tool that it is.
    fn tool() -> Tool;
}

/// A free function marked `#[prompt]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prompt",
    label = "no `#[prompt]` on this function",
    note = "tools go into `tools![..]`, resources into `resources![..]`"
)]
pub trait PromptFunction {
    /// The prompt that it is.
    fn prompt() -> Prompt;
}

/// A free function marked `#[resource]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource",
    label = "no `#[resource]` on this function",
    note = "tools go into `tools![..]`, prompts into `prompts![..]`"
)]
pub trait ResourceFunction {
    /// The resource that it is.
    fn resource() -> Resource;
}

#[diagnostic::do_not_recommend]
impl<F: Function<Kind = ToolKind, Receiver = ()>> ToolFunction for F {
    fn tool() -> Tool {
        Tool::of::<F>(Arc::new(()))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Function<Kind = PromptKind, Receiver = ()>> PromptFunction for F {
    fn prompt() -> Prompt {
        Prompt::of::<F>(Arc::new(()))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Function<Kind = ResourceKind, Receiver = ()>> ResourceFunction for F {
    fn resource() -> Resource {
        Resource::of::<F>(Arc::new(()))
    }
}

/// What a call gives in the end.
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

/// Tool, prompt or resource.
pub trait Kind: 'static {
    /// What its attributes say.
    type Details;
}

/// A tool.
#[derive(Debug)]
pub enum ToolKind {}

/// A prompt.
#[derive(Debug)]
pub enum PromptKind {}

/// A resource.
#[derive(Debug)]
pub enum ResourceKind {}

impl Kind for ToolKind {
    type Details = ToolDetails;
}

impl Kind for PromptKind {
    type Details = PromptDetails;
}

impl Kind for ResourceKind {
    type Details = ResourceDetails;
}
