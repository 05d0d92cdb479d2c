use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use rmcp::model::{CallToolResult, GetPromptResult, Icon};

use super::{Prompt, PromptDetails, Resource, ResourceDetails, Tool, ToolDetails};
use crate::{
    BoxFuture,
    call::{ArgumentErrors, Call, Param, ReadParams, SentArguments, UnknownArguments, read_arguments},
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

/// A function whose arguments have been read: all that is missing is the call.
pub struct Ready(Box<dyn FnOnce(Call) -> BoxFuture<'static, Result<Output, Halt>> + Send>);

impl Ready {
    pub(super) fn new(run: impl FnOnce(Call) -> BoxFuture<'static, Result<Output, Halt>> + Send + 'static) -> Self {
        Self(Box::new(run))
    }

    /// The author's `Deserialize` panicked. That is a failure of the call, so it goes off where the call runs.
    pub(super) fn panicked(panic: Panic) -> Self {
        Self::new(|_| Box::pin(async { resume_unwind(panic) }))
    }

    /// Calls the function.
    pub fn run(self, call: Call) -> BoxFuture<'static, Result<Output, Halt>> {
        (self.0)(call)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

/// Reads the arguments of one function.
pub trait Reader: Send + Sync {
    /// Reads arguments.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn read(&self, sent: &SentArguments<'_>, unknown: UnknownArguments) -> Result<Ready, ArgumentErrors>;

    /// What the author wrote about the parameters.
    fn params(&self) -> &'static [Param];
}

/// The reader of a [`Function`].
pub(super) struct FunctionReader<F: Function>(Arc<Callee<F::Receiver>>);

impl<F: Function> FunctionReader<F> {
    pub(super) fn new(receiver: Arc<F::Receiver>) -> Self {
        Self(Arc::new(Callee { receiver, keys: Keys::of(F::node().edges) }))
    }

    fn ready(&self, arguments: F::Set) -> Ready {
        let callee = Arc::clone(&self.0);
        Ready::new(move |call| F::run(callee, arguments, call))
    }
}

impl<F: Function> Reader for FunctionReader<F> {
    fn read(&self, sent: &SentArguments<'_>, unknown: UnknownArguments) -> Result<Ready, ArgumentErrors> {
        match guarded(|| read_arguments::<F>(sent, unknown)) {
            Ok(read) => read.map(|arguments| self.ready(arguments)),
            Err(panic) => Ok(Ready::panicked(panic)),
        }
    }

    fn params(&self) -> &'static [Param] {
        F::PARAMS
    }
}

type Panic = Box<dyn Any + Send>;

/// Reads with the author's `Deserialize`, which may panic: that is this call's failure, not the server's.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(read))
}

/// `icon(src = "..", mime_type = "..", sizes = "..")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IconDetails {
    /// Where the picture is.
    pub src: &'static str,
    /// Its MIME type.
    pub mime_type: Option<&'static str>,
    /// Its sizes, such as `48x48`.
    pub sizes: Option<&'static str>,
}

impl IconDetails {
    /// The picture at that address.
    pub const fn new(src: &'static str) -> Self {
        Self { src, mime_type: None, sizes: None }
    }
}

pub(super) fn icons(details: &[IconDetails]) -> Option<Vec<Icon>> {
    let icons = details.iter().map(|details| {
        let mut icon = Icon::new(details.src);
        icon.mime_type = details.mime_type.map(str::to_owned);
        icon.sizes = details.sizes.map(|sizes| sizes.split_whitespace().map(str::to_owned).collect());
        icon
    });
    (!details.is_empty()).then(|| icons.collect())
}
