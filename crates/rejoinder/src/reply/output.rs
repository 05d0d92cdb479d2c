use std::fmt;

use futures_util::future::BoxFuture;

use super::ResourceBody;
use crate::{
    call::{Call, Halt},
    model::{CallToolResult, GetPromptResult},
};

/// The result of a call. Large ones are in boxes, because a result is moved several times.
#[derive(Debug)]
pub enum Output {
    /// A tool's result.
    Tool(Box<CallToolResult>),
    /// A prompt's messages.
    Prompt(Box<GetPromptResult>),
    /// What a resource holds.
    Resource(ResourceBody),
    /// Values for an argument that is being typed.
    Completion(Vec<String>),
}

impl Output {
    /// Whether it is a tool's result with `isError`.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Self::Tool(result) if result.is_error == Some(true))
    }
}

/// What a function returned.
#[derive(Debug)]
pub enum FunctionOutput {
    /// The result of the call.
    Done(Output),
    /// What a tool sends before its result. The running call runs it as a part of the function.
    Stream(OutputStream),
}

/// A stream of a tool, which gives the output in the end.
pub struct OutputStream(pub(crate) Box<dyn FnOnce(Call) -> FunctionRun + Send>);

impl fmt::Debug for OutputStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputStream")
    }
}

/// A function whose arguments have been read. It runs when it is polled.
pub(crate) type FunctionRun = BoxFuture<'static, Result<FunctionOutput, Halt>>;
