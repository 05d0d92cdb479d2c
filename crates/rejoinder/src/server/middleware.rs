//! Functions around every operation of a server: see [`Server::middleware`](crate::Server::middleware).

// With middleware an operation is one future, the chain. Its innermost `Next::run` passes the rest of the door and drives
// the call; what the call emits goes to the stream through a channel. Without middleware none of this exists.

use std::{
    any::Any,
    borrow::Cow,
    fmt,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::mpsc;

use super::{CacheHints, Contents, Event, Exchange, Operation, Refusal, Running, Started, TargetKind, engine::Engine};
use crate::{
    BoxFuture,
    auth::Principal,
    call::{AfterReply, Dependencies, Emitted, RequestInfo, Utf8Bytes},
    error::{CallError, Failed, Panicked},
    item::Output,
    model::{CallToolResult, GetPromptResult, JsonObject},
    reply::{IntoPromptResult, IntoResourceContents, IntoToolResult},
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
    /// The function gets them as if the client had sent them. If the call asks, its state is bound to them: in each round
    /// the same request must become the same arguments.
    pub fn set_arguments(&mut self, arguments: JsonObject) {
        if let Operation::Call(target) = &mut self.operation {
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
    outer: mpsc::Sender<FromCallee>,
}

/// What a call hands to the stream while and after it runs.
enum FromCallee {
    Emitted(Emitted),
    /// It waits until the reply has left, whichever reply the middleware makes of the result.
    After(AfterReply),
}

impl Next {
    /// Continues with the request. What the call emits reaches the client at once; the future is ready when it ends.
    ///
    /// Dropping the future cancels the call.
    pub fn run(mut self, request: OperationRequest) -> BoxFuture<'static, OperationResult> {
        let engine = Arc::clone(&self.engine);
        match engine.options.middleware.0.get(self.index) {
            Some(middleware) => {
                self.index += 1;
                middleware(request, self)
            }
            None => Box::pin(self.pass(request)),
        }
    }

    /// Passes the rest of the door, and drives the call.
    async fn pass(self, OperationRequest { info, operation, .. }: OperationRequest) -> OperationResult {
        let started = match self.engine.pass(operation, info, self.exchange) {
            Ok(Started::Gated(gated)) => gated.await,
            started => started,
        };
        let mut running = match started {
            Ok(Started::Running(running)) => running,
            Ok(started) => return OperationResult(OperationEnd::Started(started)),
            Err(refusal) => return OperationResult(OperationEnd::Refused(refusal)),
        };
        loop {
            match poll_fn(|cx| running.poll_event(cx)).await {
                // An error means that the operation is over for the client.
                Event::Emitted(emitted) => drop(self.outer.send(FromCallee::Emitted(emitted)).await),
                event => {
                    if let Some(after) = running.after_reply() {
                        drop(self.outer.send(FromCallee::After(after)).await);
                    }
                    return OperationResult(OperationEnd::Ran(event, running));
                }
            }
        }
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
    /// A call, with its last event.
    Ran(Event, Box<Running>),
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
            OperationEnd::Ran(Event::Done(done), _) | OperationEnd::Answered(done) => Some(done.as_ref()),
            _ => None,
        }
    }

    fn output_mut(&mut self) -> Option<&mut Output> {
        match &mut self.0 {
            OperationEnd::Ran(Event::Done(Ok(output)), _) | OperationEnd::Answered(Ok(output)) => Some(output),
            _ => None,
        }
    }

    /// Whether the operation was refused or has failed; a tool's result with `isError` counts.
    pub fn is_error(&self) -> bool {
        self.error().is_some()
    }

    /// Whether the call waits for an answer of the user, which comes with another request. This is not an error.
    pub fn is_input_required(&self) -> bool {
        matches!(self.0, OperationEnd::Ran(Event::InputRequired { .. }, _))
    }

    /// Why the operation was refused or has failed, with the detail that clients do not see.
    pub fn error(&self) -> Option<Cow<'_, str>> {
        match &self.0 {
            OperationEnd::Refused(refusal) | OperationEnd::Ran(Event::Refused(refusal), _) => {
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
    /// `None` when it has ended.
    chain: Option<BoxFuture<'static, OperationResult>>,
    ended: Option<OperationEnd>,
    callee: mpsc::Receiver<FromCallee>,
    after: Option<AfterReply>,
    /// For what the call emits: the token for progress.
    request: RequestInfo,
}

/// What comes out of an operation with middleware around it.
pub(crate) enum WrappedEvent {
    Emitted(Emitted),
    /// Its end, and what waits until the reply has left.
    Ended(OperationEnd, Option<AfterReply>),
}

impl Wrapped {
    pub(super) fn new(engine: &Arc<Engine>, request: OperationRequest, exchange: Exchange) -> Self {
        // One at a time: a call that emits faster than its client reads waits.
        let (outer, callee) = mpsc::channel(1);
        let token = request.info.progress_token.clone();
        let (method, operation) = (request.method(), &request.operation);
        let target = operation.target().map(|target| (target.kind, target.name.clone()));
        let next = Next { engine: Arc::clone(engine), index: 0, exchange, outer };
        // The function of the author runs when it is polled.
        let chain: BoxFuture<'static, OperationResult> = Box::pin(async move { next.run(request).await });
        let request = RequestInfo { progress_token: token, ..RequestInfo::default() };
        Self { method, target, chain: Some(chain), ended: None, callee, after: None, request }
    }

    pub(crate) fn is_subscription(&self) -> bool {
        self.method == "subscriptions/listen"
    }

    /// The request, as far as notifications need it.
    pub(crate) fn request(&self) -> &RequestInfo {
        &self.request
    }

    /// What a reply that a middleware made is about.
    pub(crate) fn subject(&self) -> ReplySubject<'_> {
        let kind = self.target.as_ref().map(|(kind, _)| *kind);
        let name = self.target.as_ref().map_or(self.method, |(_, name)| name);
        let item = if kind == Some(TargetKind::Resource) { self.method } else { name };
        ReplySubject { kind, name, item, contents: Some(&ANSWERED_CONTENTS) }
    }

    /// The next event; what was emitted comes before the end.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<WrappedEvent> {
        if let Some(chain) = &mut self.chain
            && let Some(ended) = match Panicked::catch(|| chain.as_mut().poll(cx)) {
                Ok(Poll::Pending) => None,
                Ok(Poll::Ready(OperationResult(ended))) => Some(self.checked(ended)),
                Err(Panicked) => Some(OperationEnd::Answered(Err(Failed::Panicked))),
            }
        {
            let chain = self.chain.take();
            // What the chain holds is the author's, and its `Drop` may panic; the panic's own message is in the log.
            let dropped = Panicked::catch(|| drop(chain));
            self.ended = Some(dropped.map_or(OperationEnd::Answered(Err(Failed::Panicked)), |()| ended));
            self.callee.close();
        }
        while let Some(handed) = self.next_handed(cx) {
            match handed {
                FromCallee::Emitted(emitted) => return Poll::Ready(WrappedEvent::Emitted(emitted)),
                FromCallee::After(after) => self.after = Some(after),
            }
        }
        let ended = self.ended.take();
        ended.map_or(Poll::Pending, |ended| Poll::Ready(WrappedEvent::Ended(ended, self.after.take())))
    }

    fn next_handed(&mut self, cx: &mut Context<'_>) -> Option<FromCallee> {
        if self.chain.is_none() {
            // Nothing more comes; and what is there must not wait, though the task may have used up its share of the thread.
            return self.callee.try_recv().ok();
        }
        match self.callee.poll_recv(cx) {
            Poll::Ready(handed) => handed,
            Poll::Pending => None,
        }
    }

    /// A middleware must answer with the kind of result that the operation has.
    fn checked(&self, ended: OperationEnd) -> OperationEnd {
        let OperationEnd::Answered(Ok(output)) = &ended else { return ended };
        let answered = match output {
            Output::Tool(_) => Some(TargetKind::Tool),
            Output::Prompt(_) => Some(TargetKind::Prompt),
            Output::Resource(_) => Some(TargetKind::Resource),
            Output::Completion(_) | Output::Stream(_) => None,
        };
        if answered.is_some() && answered == self.subject().kind {
            return ended;
        }
        let (method, kind) = (self.method, answered.map_or("completion", TargetKind::noun));
        let mistake = CallError::mistake(format!(
            "a middleware answered `{method}` with the result of a {kind}: return what `next.run(request)` returns, or a \
             `CallError`"
        ));
        OperationEnd::Answered(Err(Failed::Error(mistake)))
    }
}

/// What the reply says about the contents that a middleware made.
static ANSWERED_CONTENTS: Contents = Contents { mime_type: None, hints: CacheHints::CONTENTS };

/// What a reply is about.
#[derive(Clone, Copy)]
pub(crate) struct ReplySubject<'a> {
    /// What kind of item was called; `None` if it is not a call.
    pub(crate) kind: Option<TargetKind>,
    /// The name of the tool or prompt, or the URI of the resource; otherwise the method.
    pub(crate) name: &'a str,
    /// The name of the item for the log; of a resource its URI template, because a URI may contain secrets.
    pub(crate) item: &'a str,
    /// What the reply says about the contents of a resource.
    pub(crate) contents: Option<&'a Contents>,
}
