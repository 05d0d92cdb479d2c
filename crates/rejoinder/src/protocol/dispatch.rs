//! From a message to an operation, and to the door.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::Arc,
};

use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tokio_util::task::TaskTracker;

use super::{
    Dispatched, Envelope, RpcError,
    envelope::{RequestParams, string},
    error::shortened,
    input_response::{input_responses, sorted_responses},
    listen,
    meta::Meta,
    session::{Questions, Session, SessionMethod},
    write::{Writer, error_reply},
};
use crate::{
    auth::Principal,
    call::{InputResponses, Utf8Bytes},
    model::{Reference, encode_header, header_name, version},
    request::{CallerSource, Era, RequestInfo, compact},
    rounds::seal::StateRefusal,
    server::{
        CompleteArgument, Engine, Exchange, List, Operation, Refusal, Started, Target, TargetKind, TaskOperation,
        decoded_header,
    },
};

/// What a transport knows about a message: the HTTP request that brought it or opened its connection, if there was one, and
/// who sends it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Http {
    request: Option<Arc<(HeaderMap, Extensions)>>,
    repeats_body: bool,
    caller_source: CallerSource,
    /// Who sends it, if the transport had to know.
    caller: Option<Principal>,
    /// Where to count what the calls of its connection leave behind.
    pub(crate) left: Option<TaskTracker>,
}

impl Http {
    /// A request whose headers say nothing about the message. What it brings may outlive its connection.
    pub(crate) fn new(mut headers: HeaderMap, extensions: Extensions) -> Self {
        compact(&mut headers);
        Self { request: Some(Arc::new((headers, extensions))), ..Self::default() }
    }

    /// A request of Streamable HTTP, whose headers repeat parts of the body so that proxies can route without reading it. It
    /// ends with its connection, which counts the buffer that the headers keep.
    pub(crate) fn repeating_body(headers: HeaderMap, extensions: Extensions) -> Self {
        Self { request: Some(Arc::new((headers, extensions))), repeats_body: true, ..Self::default() }
    }

    /// A message that came over a pipe.
    #[cfg(feature = "stdio")]
    pub(crate) fn over_stdio() -> Self {
        Self { caller_source: CallerSource::Stdio, ..Self::default() }
    }

    /// The same, from a caller whom the transport has identified.
    pub(crate) fn sent_by(self, caller: Option<Principal>) -> Self {
        Self { caller_source: CallerSource::Known, caller, ..self }
    }

    /// Adds it to what the message says.
    pub(super) fn describe(self, info: &mut RequestInfo) {
        (info.http, info.left) = (self.request, self.left);
        (info.principal, info.caller_source) = (self.caller, self.caller_source);
    }

    /// The headers that must repeat the body.
    fn repeated(&self) -> Option<&HeaderMap> {
        self.request.as_deref().filter(|_| self.repeats_body).map(|(headers, _)| headers)
    }
}

/// Answers a request of a session, or one that stands alone.
pub(crate) fn dispatch(
    engine: &Arc<Engine>,
    body: &Bytes,
    envelope: Envelope<'_>,
    http: Http,
    session: Option<&Arc<Session>>,
) -> Dispatched {
    let Some(method) = &envelope.method else {
        // Without an id: a client would take an error under this id for the reply to a request of its own.
        let error = RpcError::invalid_request("unexpected response: the server has no open request with this id");
        return Dispatched::Reply(error_reply(None, &error));
    };
    let Some(id) = envelope.id else { return Dispatched::Nothing };
    let writer = Writer::new(engine, Utf8Bytes::part(body, id), session.map(Arc::as_ref));
    let request = Request { engine, body, id, method, params: envelope.params };
    let answered = match session {
        None => request.standing_alone(http),
        Some(session) => request.in_session(session, http),
    };
    match answered {
        Ok((started, questions)) => Dispatched::new(writer, started, questions),
        Err(Answered::Result(result)) => Dispatched::Reply(writer.result(result)),
        Err(Answered::Refused(refusal)) => Dispatched::Reply(writer.refused(refusal)),
        Err(Answered::Error(error)) => Dispatched::Reply(writer.error(error)),
    }
}

/// Whether a request is about its session, so that the messages after it have to wait for it.
#[cfg(any(feature = "stdio", feature = "ws", feature = "sse"))]
pub(crate) fn is_about_session(engine: &Engine, envelope: &Envelope<'_>) -> bool {
    let method = envelope.method.as_deref().and_then(|method| Method::find(method, Era::Session, engine));
    matches!(method, Some(Method::OfSession(_)))
}

/// The request that a message cancels, as [`request_key`] spells it.
pub(crate) fn cancelled_request(envelope: &Envelope<'_>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    let is_cancellation = envelope.id.is_none() && envelope.method.as_deref() == Some("notifications/cancelled");
    let cancelled = is_cancellation.then(|| serde_json::from_str::<Cancelled<'_>>(envelope.params.whole()));
    let cancelled = cancelled?.ok()?;
    Some(request_key(cancelled.request_id.get()).into_owned())
}

/// A request's id, the same however it was spelled: only a string with escapes has several spellings.
fn request_key(id: &str) -> Cow<'_, str> {
    if !id.contains('\\') {
        return Cow::Borrowed(id);
    }
    serde_json::from_str::<Value>(id).map_or(Cow::Borrowed(id), |id| Cow::Owned(id.to_string()))
}

/// The id of an open request, the same however it was spelled. A later request with the same id has another allocation.
pub(crate) type RequestKey = Arc<str>;

/// Adds a request with this id, unless one of these has it.
pub(crate) fn admit_request<T>(
    open: &mut HashMap<RequestKey, T>,
    id: &str,
    request: T,
) -> Result<RequestKey, RpcError> {
    match open.entry(request_key(id).into()) {
        Entry::Vacant(free) => Ok(Arc::clone(free.insert_entry(request).key())),
        Entry::Occupied(_) => Err(RpcError::invalid_request("a request with this id is still being answered")),
    }
}

/// Removes a request, unless it was cancelled; a later request with the same id stays.
pub(crate) fn end_request<T>(open: &mut HashMap<RequestKey, T>, key: &RequestKey) -> Option<T> {
    match open.entry(Arc::clone(key)) {
        Entry::Occupied(open) if Arc::ptr_eq(open.key(), key) => Some(open.remove()),
        _ => None,
    }
}

/// A request, while its operation is found.
struct Request<'a> {
    engine: &'a Arc<Engine>,
    body: &'a Bytes,
    id: &'a str,
    method: &'a str,
    params: RequestParams<'a>,
}

/// An operation, and where the questions of its call over a session arrive; or the answer to a request without one.
type Passed = Result<(Started, Option<Questions>), Answered>;

/// The answer to a request that does not start an operation.
enum Answered {
    /// The result of a method that a session answers itself.
    Result(Value),
    /// The message is wrong.
    Error(RpcError),
    /// The door refused it.
    Refused(Refusal),
}

impl From<RpcError> for Answered {
    fn from(error: RpcError) -> Self {
        Self::Error(error)
    }
}

/// A method of tasks.
#[derive(Clone, Copy)]
enum TaskMethod {
    Get,
    Update,
    Cancel,
}

/// A method.
#[derive(Clone, Copy)]
enum Method {
    Discover,
    List(List),
    Call(TargetKind),
    Complete,
    Listen,
    Task(TaskMethod),
    /// It is about the session, which answers it.
    OfSession(SessionMethod),
}

impl Method {
    /// The method table: each row is a method, the eras that have it, and whether the server offers what it is about.
    fn find(name: &str, era: Era, engine: &Engine) -> Option<Self> {
        const BOTH: &[Era] = &[Era::Stateless, Era::Session];
        const STATELESS: &[Era] = &[Era::Stateless];
        const SESSION: &[Era] = &[Era::Session];
        let offered = engine.capabilities();
        let (tools, prompts, resources) =
            (offered.tools.is_some(), offered.prompts.is_some(), offered.resources.is_some());
        let (method, eras, is_offered) = match name {
            "server/discover" => (Self::Discover, STATELESS, true),
            "tools/call" => (Self::Call(TargetKind::Tool), BOTH, tools),
            "tools/list" => (Self::List(List::Tools), BOTH, tools),
            "prompts/get" => (Self::Call(TargetKind::Prompt), BOTH, prompts),
            "prompts/list" => (Self::List(List::Prompts), BOTH, prompts),
            "resources/read" => (Self::Call(TargetKind::Resource), BOTH, resources),
            "resources/list" => (Self::List(List::Resources), BOTH, resources),
            "resources/templates/list" => (Self::List(List::Templates), BOTH, resources),
            "completion/complete" => (Self::Complete, BOTH, offered.completions.is_some()),
            "subscriptions/listen" => (Self::Listen, STATELESS, true),
            "tasks/get" => (Self::Task(TaskMethod::Get), STATELESS, engine.offers_tasks()),
            "tasks/update" => (Self::Task(TaskMethod::Update), STATELESS, engine.offers_tasks()),
            "tasks/cancel" => (Self::Task(TaskMethod::Cancel), STATELESS, engine.offers_tasks()),
            "initialize" => (Self::OfSession(SessionMethod::Initialize), SESSION, true),
            "ping" => (Self::OfSession(SessionMethod::Ping), SESSION, true),
            "logging/setLevel" => (Self::OfSession(SessionMethod::SetLevel), SESSION, offered.logging.is_some()),
            "resources/subscribe" => (Self::OfSession(SessionMethod::Subscribe), SESSION, resources),
            "resources/unsubscribe" => (Self::OfSession(SessionMethod::Unsubscribe), SESSION, resources),
            _ => return None,
        };
        (is_offered && eras.contains(&era)).then_some(method)
    }
}

impl Request<'_> {
    /// The checks are in the order in which their errors should win: what the request is, then what it wants.
    fn standing_alone(self, http: Http) -> Passed {
        let headers = http.repeated();
        let mut info = self.stateless(headers)?;
        let operation = self.operation(Method::find(self.method, Era::Stateless, self.engine), headers)?;
        if info.capabilities.tasks && self.engine.offers_tasks() {
            self.engine.begin_tasks();
        }
        let (state, answers) = match &operation {
            Operation::Call(_) => (self.state()?, self.answers()?),
            _ => (None, None),
        };
        let repeats_arguments = http.repeats_body;
        http.describe(&mut info);
        let exchange = Exchange::Stateless { state, answers, repeats_arguments };
        let started = self.engine.start(operation, info, exchange).map_err(Answered::Refused)?;
        Ok((started, None))
    }

    fn in_session(self, session: &Arc<Session>, http: Http) -> Passed {
        let meta = self.params.meta.as_ref();
        let progress_token = meta.map_or(Ok(None), Meta::progress_token)?;
        let method = Method::find(self.method, Era::Session, self.engine);
        if let Some(Method::OfSession(method)) = method {
            let result = session.answer(method, &self.params)?;
            if matches!(method, SessionMethod::Initialize | SessionMethod::Subscribe) {
                session.listen_as(http);
            }
            return Err(Answered::Result(result));
        }
        session.renew(http.caller.as_ref());
        let (info, client, questions) = session.call()?;
        let operation = self.operation(method, None)?;
        if let Operation::Call(target) = &operation {
            // A session has no request state, so this state belongs to another call.
            if self.params.request_state.is_some() {
                self.engine.seal().log_refusal(StateRefusal::Session, target.kind.method());
                return Err(Answered::Refused(Refusal::InvalidState));
            }
            self.answers()?;
        }
        let mut info =
            RequestInfo { request_id: self.keep(self.id), progress_token, meta: meta.and_then(Meta::others), ..info };
        http.describe(&mut info);
        let exchange = Exchange::Session(Arc::new(client));
        let started = self.engine.start(operation, info, exchange).map_err(Answered::Refused)?;
        Ok((started, Some(questions)))
    }

    /// A part of the body that outlives the request's message.
    fn keep(&self, part: &str) -> Bytes {
        Utf8Bytes::part(self.body, part).into()
    }

    /// What a stateless request says about itself.
    fn stateless(&self, headers: Option<&HeaderMap>) -> Result<RequestInfo, RpcError> {
        if self.method == "initialize" && !self.engine.has_sessions() {
            return Err(RpcError::no_sessions(self.params.whole()));
        }
        let meta = self.params.meta.as_ref().ok_or_else(|| RpcError::invalid_params("`params._meta` is missing"))?;
        let version = meta.version()?;
        check_header(headers, &VERSION, "MCP-Protocol-Version", &version)?;
        if version != version::STATELESS {
            return Err(RpcError::unsupported_version(&version, self.engine.has_sessions()));
        }
        let info = RequestInfo {
            request_id: self.keep(self.id),
            era: Era::Stateless,
            protocol_version: version::STATELESS.into(),
            capabilities: meta.capabilities()?,
            client: meta.client()?.map(|client| self.keep(client)),
            log_level: meta.log_level()?,
            progress_token: meta.progress_token()?,
            meta: meta.others(),
            ..RequestInfo::default()
        };
        check_header(headers, &METHOD, "Mcp-Method", self.method)?;
        Ok(info)
    }

    fn operation(&self, method: Option<Method>, headers: Option<&HeaderMap>) -> Result<Operation, RpcError> {
        let params = &self.params;
        Ok(match method.ok_or_else(|| RpcError::method_not_found(self.method))? {
            Method::Discover => Operation::Discover,
            Method::List(list) => Operation::List(list, params.cursor()?.map(Cow::into_owned)),
            Method::Listen => Operation::Listen(listen::filter(self.engine, params.whole())?),
            Method::Complete => Operation::Complete(complete_argument(params.whole())?),
            Method::Call(kind) => {
                let name = match kind {
                    TargetKind::Tool | TargetKind::Prompt => params.name()?,
                    TargetKind::Resource => params.uri()?,
                };
                check_header(headers, &NAME, "Mcp-Name", &name)?;
                let part = |part| Utf8Bytes::part(self.body, part);
                Operation::Call(Target {
                    kind,
                    name: part(&name),
                    // Those of a resource are in its URI.
                    arguments: params.arguments.filter(|_| kind != TargetKind::Resource).map(|raw| part(raw.get())),
                    sent: None,
                })
            }
            Method::Task(method) => {
                let id = params.task_id()?;
                check_header(headers, &NAME, "Mcp-Name", &id)?;
                let operation = match method {
                    TaskMethod::Get => TaskOperation::Get,
                    TaskMethod::Cancel => TaskOperation::Cancel,
                    TaskMethod::Update => {
                        let missing = || RpcError::invalid_params("`params.inputResponses` is missing");
                        let raw = params.input_responses.ok_or_else(missing)?;
                        let (answers, others) = sorted_responses(raw, self.engine.answer_bytes())?;
                        TaskOperation::Update { answers, others }
                    }
                };
                Operation::Task(id.parse().ok(), operation)
            }
            Method::OfSession(_) => return Err(RpcError::method_not_found(self.method)),
        })
    }

    fn state(&self) -> Result<Option<Utf8Bytes>, Answered> {
        let Some(state) = self.params.request_state else { return Ok(None) };
        match string(state) {
            Some(state) => Ok(Some(Utf8Bytes::part(self.body, &state))),
            None => {
                self.engine.seal().log_refusal(StateRefusal::NotText, self.method);
                Err(Answered::Refused(Refusal::InvalidState))
            }
        }
    }

    fn answers(&self) -> Result<Option<InputResponses>, RpcError> {
        let limit = self.engine.answer_bytes();
        self.params.input_responses.map(|raw| input_responses(raw, limit)).transpose()
    }
}

static VERSION: HeaderName = HeaderName::from_static(header_name::PROTOCOL_VERSION);
static METHOD: HeaderName = HeaderName::from_static(header_name::METHOD);
static NAME: HeaderName = HeaderName::from_static(header_name::NAME);

/// Checks a header that repeats a part of the body, so that proxies can route without reading it.
fn check_header(
    headers: Option<&HeaderMap>,
    name: &HeaderName,
    shown: &'static str,
    body: &str,
) -> Result<(), RpcError> {
    let Some(headers) = headers else { return Ok(()) };
    // Nearly always: no header occurs twice, and this one is plain text.
    if headers.len() == headers.keys_len()
        && headers.get(name).is_some_and(|value| value == body)
        && encode_header(body) == body
    {
        return Ok(());
    }
    match decoded_header(headers, name, shown).map_err(RpcError::header_mismatch)? {
        Some(value) if value == body => Ok(()),
        Some(value) => Err(RpcError::header_mismatch(format!(
            "the header `{shown}` does not match the body: expected `{1}`, got `{0}`",
            shortened(&value),
            shortened(body)
        ))),
        None => Err(RpcError::header_mismatch(format!("missing header `{shown}`: expected `{}`", shortened(body)))),
    }
}

/// The argument that `completion/complete` is about.
fn complete_argument(params: &str) -> Result<CompleteArgument, RpcError> {
    #[derive(Deserialize)]
    struct Params {
        r#ref: Reference,
        argument: Incomplete,
        context: Option<CompletionContext>,
    }
    #[derive(Deserialize)]
    struct Incomplete {
        name: String,
        value: String,
    }
    #[derive(Deserialize)]
    struct CompletionContext {
        arguments: Option<BTreeMap<String, String>>,
    }
    let params: Params = serde_json::from_str(params)
        .map_err(|error| RpcError::invalid_params(format!("`params` is not a completion request: {error}")))?;
    let (kind, name) = match params.r#ref {
        Reference::Prompt { name, .. } => (TargetKind::Prompt, name),
        Reference::Resource { uri, .. } => (TargetKind::Resource, uri),
        _ => return Err(RpcError::invalid_params("`params.ref` must name a prompt or a resource template")),
    };
    let known = params.context.and_then(|context| context.arguments).unwrap_or_default();
    let Incomplete { name: argument, value } = params.argument;
    Ok(CompleteArgument { kind, name, argument, value, known })
}
