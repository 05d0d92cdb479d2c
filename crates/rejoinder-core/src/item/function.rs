use std::sync::Arc;

use rmcp::model::{CallToolResult, GetPromptResult};

use super::{PromptDetails, ResourceDetails, ToolDetails};
use crate::{
    BoxFuture,
    call::{Call, ReadParams},
    error::ToolError,
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

    /// What its parameters need to have been provided, by parameter.
    fn needs() -> Vec<(&'static str, Need)>;

    /// Fills the parameters and calls it.
    fn run(
        receiver: Arc<Self::Receiver>,
        arguments: Self::Set,
        call: Call,
    ) -> BoxFuture<'static, Result<<Self::Kind as Kind>::Output, ToolError>>;
}

/// Tool, prompt or resource.
pub trait Kind: 'static {
    /// What its attributes say.
    type Details;
    /// What it gives in the end.
    type Output: 'static;
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
    type Output = CallToolResult;
}

impl Kind for PromptKind {
    type Details = PromptDetails;
    type Output = GetPromptResult;
}

impl Kind for ResourceKind {
    type Details = ResourceDetails;
    type Output = ResourceBody;
}
