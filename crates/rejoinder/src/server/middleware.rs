//! Functions around every operation of a server: see [`Server::middleware`](crate::Server::middleware).

// With middleware an operation is one future, the chain. Its innermost `Next::run` passes the rest of the door and runs the
// call to its end; what the call emits is taken from its outbox, as without middleware. The call is polled in there, so that
// it is in a span that a middleware has entered.

use std::{
    any::Any,
    borrow::Cow,
    fmt,
    future::poll_fn,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_util::{FutureExt, future::BoxFuture};

use super::{
    CacheHints, Contents, Exchange, Operation, Refusal, ReplySubject, Running, RunningEnd, Started, TargetKind,
    engine::Engine,
};
use crate::{
    auth::Principal,
    call::{Dependencies, Outbox, Utf8Bytes},
    error::{CallError, Failed, Panicked},
    model::{CallToolResult, GetPromptResult, JsonObject},
    reply::{IntoPromptResult, IntoResourceContents, IntoToolResult, Output},
    request::{ProgressToken, RequestInfo},
};

/// A function around operations.
pub(super) type AroundOperation = dyn Fn(OperationRequest, Next) -> BoxFuture<'static, OperationResult> + Send + Sync;

/// What a client wants, as a [middleware](crate::Server::middleware) sees it and may change it.
///
/// ```
/// use rejoinder::middleware::{Next, OperationRequest, OperationResult};
///
/// #[derive(Clone)]
/// struct Tenant(String);
///
/// /// Tools take it with `ctx.extension::<Tenant>()`.
/// async fn tenant(mut request: OperationRequest, next: Next) -> OperationResult {
///     let tenant = request.header("x-tenant").unwrap_or("public").to_owned();
///     request.insert_extension(Tenant(tenant));
///     next.run(request).await
/// }
/// ```
pub struct OperationRequest {
    pub(super) info: RequestInfo,
    pub(super) operation: Operation,
    pub(super) dependencies: Arc<Dependencies>,
    pub(super) is_retry: bool,
    pub(super) is_run: bool,
}

impl OperationRequest {
    /// The method: `tools/call`, `tools/list`, `server/discover`.
    pub fn method(&self) -> &'static str {
        self.operation.method()
    }

    /// The name of the tool or prompt, or the URI of the resource, that is called or whose argument is completed.
    pub fn name(&self) -> Option<&str> {
        self.operation.name()
    }

    /// Whether the request continues a call that asked: it has a `requestState`, which has not been opened yet.
    ///
    /// A quota counts a call once if it passes over retries. Use [`single_use`](crate::state::StatePolicy::single_use) then,
    /// so that a client cannot send a retry twice.
    pub fn is_retry(&self) -> bool {
        self.is_retry
    }

    /// Whether this is a run of a task, which goes on after the request that made it: see [tasks](crate::guide::tasks).
    ///
    /// A run is a retry, too. It has the caller of that request and the arguments as the middleware left them, but no headers
    /// except those that parameters name, and no extensions. A middleware that wants something else of a request must let it
    /// pass.
    pub fn is_task_run(&self) -> bool {
        self.is_run
    }

    /// The caller, if the server knows it.
    pub fn principal(&self) -> Option<&Principal> {
        self.info.principal.as_ref()
    }

    /// Says who calls, in place of what the server found out.
    ///
    /// States and parameters follow it. Sessions over HTTP do not: they belong to the caller that was known before the
    /// middleware ran.
    pub fn set_principal(&mut self, caller: Option<Principal>) {
        self.info.principal = caller;
    }

    /// What the request says about itself: era, version, client, capabilities.
    pub fn info(&self) -> &RequestInfo {
        &self.info
    }

    /// The value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.info.header(name)
    }

    /// Something that a layer, or a middleware before this one, attached to the request.
    pub fn extension<T: Any + Send + Sync + Clone>(&self) -> Option<&T> {
        self.info.extensions()?.get::<T>()
    }

    /// Attaches something to the request: functions find it with [`Context::extension`](crate::Context::extension), on every
    /// transport.
    pub fn insert_extension<T: Any + Send + Sync + Clone>(&mut self, value: T) {
        self.info.extensions_mut().insert(value);
    }

    /// A provided service.
    pub fn dependency<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.dependencies.get::<T>()
    }

    /// The arguments of the call; empty if there are none, or if they are not an object.
    ///
    /// They have not been checked: a function that they do not fit refuses them later.
    pub fn arguments(&self) -> JsonObject {
        let sent = self.operation.target().and_then(|target| target.arguments.as_deref());
        sent.and_then(|sent| serde_json::from_str(sent).ok()).unwrap_or_default()
    }

    /// Replaces the arguments of the call. Other operations, and resources, have none.
    ///
    /// The function gets them as if the client had sent them. In a [run of a task](Self::is_task_run) they were replaced
    /// before, and this does nothing. If the call asks, its state is bound to them: in each round
    /// the same request must become the same arguments.
    pub fn set_arguments(&mut self, arguments: JsonObject) {
        if let (Operation::Call(target), false) = (&mut self.operation, self.is_run) {
            let changed = Utf8Bytes::from(&*serde_json::Value::Object(arguments).to_string());
            let sent = target.arguments.replace(changed);
            // Headers repeat what the client sent.
            target.sent.get_or_insert(sent);
        }
    }
}

/// Without arguments, headers and `_meta`, which may be secret.
impl fmt::Debug for OperationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("OperationRequest");
        debug.field("method", &self.method()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The rest of the way of an operation: the other middleware, and then the server itself.
pub struct Next {
    engine: Arc<Engine>,
    /// Which middleware is next.
    index: usize,
    exchange: Exchange,
    /// Where the call puts what it emits.
    outbox: Arc<Outbox>,
}

impl Next {
    /// Continues with the request. What the call emits reaches the client at once; the future is ready when it ends.
    ///
    /// Dropping the future cancels the call.
    pub fn run(mut self, request: OperationRequest) -> BoxFuture<'static, OperationResult> {
        let engine = Arc::clone(&self.engine);
        match engine.settings.options.middleware.0.get(self.index) {
            Some(middleware) => {
                self.index += 1;
                middleware(request, self)
            }
            None => Box::pin(self.pass(request)),
        }
    }

    /// Passes the rest of the door, and runs the call to its end.
    async fn pass(self, OperationRequest { info, operation, .. }: OperationRequest) -> OperationResult {
        let started = match self.engine.pass(operation, info, self.exchange, Some(Arc::clone(&self.outbox))) {
            Ok(Started::Later(later)) => later.await,
            started => started,
        };
        OperationResult(match started {
            Ok(Started::Running(mut running)) => {
                let end = poll_fn(|cx| running.poll_end(cx)).await;
                // It waits until the reply has left, whichever reply the middleware makes of the result.
                self.outbox.leave(running.after_reply());
                OperationEnd::Ran(end, running)
            }
            Ok(started) => OperationEnd::Started(started),
            Err(refusal) => OperationEnd::Refused(refusal),
        })
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("index", &self.index).finish_non_exhaustive()
    }
}

/// How an operation ended, as a [middleware](crate::Server::middleware) sees it, changes it or makes it.
///
/// A middleware that answers itself returns a [`CallError`], or one of the results that functions return:
///
/// ```
/// use rejoinder::{CallError, middleware::{Next, OperationRequest, OperationResult}};
///
/// async fn maintenance(request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
///     match request.name() {
///         Some("status") => Ok(OperationResult::of_tool("under maintenance")),
///         Some(_) => Err(CallError::new("under maintenance, try again in an hour")),
///         None => Ok(next.run(request).await),
///     }
/// }
/// ```
pub struct OperationResult(pub(super) OperationEnd);

/// How an operation ended.
pub(crate) enum OperationEnd {
    /// It was not a call.
    Started(Started),
    Refused(Refusal),
    /// A call.
    Ran(RunningEnd, Box<Running>),
    /// A middleware answered itself.
    Answered(Result<Output, Failed>),
}

impl OperationResult {
    /// The result of a tool: what a function marked `#[tool]` may return.
    pub fn of_tool(result: impl IntoToolResult) -> Self {
        Self::answered(result.into_tool_result().map(|result| Output::Tool(Box::new(result))))
    }

    /// The result of a prompt: what a function marked `#[prompt]` may return.
    pub fn of_prompt(result: impl IntoPromptResult) -> Self {
        Self::answered(result.into_prompt_result().map(|result| Output::Prompt(Box::new(result))))
    }

    /// The contents of a resource: what a function marked `#[resource]` may return.
    pub fn of_resource(contents: impl IntoResourceContents) -> Self {
        Self::answered(contents.into_resource_contents().map(Output::Resource))
    }

    fn answered(answer: Result<Output, CallError>) -> Self {
        Self(OperationEnd::Answered(answer.map_err(Failed::Error)))
    }

    /// What the function returned, or why there is nothing.
    fn done(&self) -> Option<Result<&Output, &Failed>> {
        match &self.0 {
            OperationEnd::Ran(RunningEnd::Done(done), _) | OperationEnd::Answered(done) => Some(done.as_ref()),
            _ => None,
        }
    }

    fn output_mut(&mut self) -> Option<&mut Output> {
        match &mut self.0 {
            OperationEnd::Ran(RunningEnd::Done(Ok(output)), _) | OperationEnd::Answered(Ok(output)) => Some(output),
            _ => None,
        }
    }

    /// Whether the operation was refused or has failed; a tool's result with `isError` counts.
    pub fn is_error(&self) -> bool {
        self.error().is_some()
    }

    /// Whether the call waits for an answer of the user, which comes with another request. This is not an error.
    pub fn is_input_required(&self) -> bool {
        matches!(self.0, OperationEnd::Ran(RunningEnd::InputRequired { .. }, _))
    }

    /// Whether the call goes on as a task, or a run of a task waits. This is not an error.
    pub fn is_task(&self) -> bool {
        matches!(self.0, OperationEnd::Ran(RunningEnd::Detached(_) | RunningEnd::Parked(_), _))
    }

    /// Why the operation was refused or has failed, with the detail that clients do not see.
    pub fn error(&self) -> Option<Cow<'_, str>> {
        match &self.0 {
            OperationEnd::Refused(refusal) | OperationEnd::Ran(RunningEnd::Refused(refusal), _) => {
                Some(refusal.to_string().into())
            }
            _ => match self.done()? {
                Err(Failed::Error(error)) => Some(error.to_string().into()),
                Err(Failed::Panicked) => Some("panicked".into()),
                Ok(output @ Output::Tool(result)) if output.is_error() => {
                    let text = result.content.iter().find_map(|block| block.as_text());
                    Some(text.map_or("the result has `isError`", |text| &text.text).into())
                }
                Ok(_) => None,
            },
        }
    }

    /// The result of a tool.
    pub fn tool(&self) -> Option<&CallToolResult> {
        if let Output::Tool(result) = self.done()?.ok()? { Some(result) } else { None }
    }

    /// The result of a tool, to change it.
    pub fn tool_mut(&mut self) -> Option<&mut CallToolResult> {
        if let Output::Tool(result) = self.output_mut()? { Some(result) } else { None }
    }

    /// The result of a prompt.
    pub fn prompt(&self) -> Option<&GetPromptResult> {
        if let Output::Prompt(result) = self.done()?.ok()? { Some(result) } else { None }
    }

    /// The result of a prompt, to change it.
    pub fn prompt_mut(&mut self) -> Option<&mut GetPromptResult> {
        if let Output::Prompt(result) = self.output_mut()? { Some(result) } else { None }
    }
}

/// What a [middleware](crate::Server::middleware) returns: a future of an [`OperationResult`], or of a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a middleware is an `async fn(OperationRequest, Next)` that returns an `OperationResult`, or a `Result` of one",
    label = "not a future of an `OperationResult`; return `next.run(request).await`"
)]
pub trait OperationFuture: Future<Output: Into<OperationResult>> {}

#[diagnostic::do_not_recommend]
impl<F: Future<Output: Into<OperationResult>>> OperationFuture for F {}

impl From<CallError> for OperationResult {
    fn from(error: CallError) -> Self {
        Self::answered(Err(error))
    }
}

impl<E: Into<CallError>> From<Result<Self, E>> for OperationResult {
    fn from(result: Result<Self, E>) -> Self {
        result.unwrap_or_else(|error| error.into().into())
    }
}

impl fmt::Debug for OperationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("OperationResult");
        debug.field("is_input_required", &self.is_input_required()).field("error", &self.error()).finish()
    }
}

/// An operation with middleware around it. Dropping it cancels it.
pub(crate) struct Wrapped {
    method: &'static str,
    target: Option<(TargetKind, Utf8Bytes)>,
    /// For what the call emits.
    pub(crate) progress_token: Option<ProgressToken>,
    /// `None` when it has ended.
    chain: Option<BoxFuture<'static, OperationEnd>>,
    pub(crate) outbox: Arc<Outbox>,
    /// The call, when it has ended.
    pub(crate) ran: Option<Box<Running>>,
}

impl Wrapped {
    pub(super) fn new(engine: &Arc<Engine>, request: OperationRequest, exchange: Exchange) -> Self {
        let (method, progress_token) = (request.method(), request.info.progress_token.clone());
        let target = request.operation.target().map(|target| (target.kind, target.name.clone()));
        let (kind, outbox) = (target.as_ref().map(|(kind, _)| *kind), Arc::default());
        let next = Next { engine: Arc::clone(engine), index: 0, exchange, outbox: Arc::clone(&outbox) };
        // The function of the author runs when it is polled, and what it holds is dropped inside, too.
        let chain = AssertUnwindSafe(async move { next.run(request).await }).catch_unwind();
        let chain = async move {
            match chain.await.map_err(Panicked::from) {
                Ok(OperationResult(ended)) => checked(ended, method, kind),
                Err(Panicked) => OperationEnd::Answered(Err(Failed::Panicked)),
            }
        };
        Self { method, target, progress_token, chain: Some(Box::pin(chain)), outbox, ran: None }
    }

    pub(crate) fn is_subscription(&self) -> bool {
        self.method == "subscriptions/listen"
    }

    /// What a reply that a middleware made is about.
    pub(crate) fn subject(&self) -> ReplySubject<'_> {
        let kind = self.target.as_ref().map(|(kind, _)| *kind);
        let name = self.target.as_ref().map_or(self.method, |(_, name)| name);
        let item = if kind == Some(TargetKind::Resource) { self.method } else { name };
        ReplySubject { kind, name, item, contents: Some(&ANSWERED_CONTENTS) }
    }

    /// How it ends. What was emitted is in its outbox, and is to be taken before.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<OperationEnd> {
        let Some(chain) = &mut self.chain else { return Poll::Pending };
        let ended = ready!(chain.as_mut().poll(cx));
        self.chain = None;
        Poll::Ready(ended)
    }
}

impl Drop for Wrapped {
    fn drop(&mut self) {
        drop(self.outbox.abandon());
    }
}

/// A middleware must answer with the kind of result that the operation has.
fn checked(ended: OperationEnd, method: &str, kind: Option<TargetKind>) -> OperationEnd {
    let OperationEnd::Answered(Ok(output)) = &ended else { return ended };
    let answered = match output {
        Output::Tool(_) => Some(TargetKind::Tool),
        Output::Prompt(_) => Some(TargetKind::Prompt),
        Output::Resource(_) => Some(TargetKind::Resource),
        Output::Completion(_) => None,
    };
    if answered.is_some() && answered == kind {
        return ended;
    }
    let noun = answered.map_or("completion", TargetKind::noun);
    let mistake = CallError::mistake(format!(
        "a middleware answered `{method}` with the result of a {noun}: return what `next.run(request)` returns, or a \
         `CallError`"
    ));
    OperationEnd::Answered(Err(Failed::Error(mistake)))
}

/// What the reply says about the contents that a middleware made.
static ANSWERED_CONTENTS: Contents = Contents { mime_type: None, hints: CacheHints::CONTENTS };
