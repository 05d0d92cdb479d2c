//! A session: what the server knows about a client of 2025-11-25 or earlier, from `initialize` on.
//!
//! Messages drive it, and it does not know which transport they come from. The transport owns the calls in flight:
//! it polls their streams, and drops them when the client cancels them.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use ring::rand::{SecureRandom, SystemRandom};
use serde::Deserialize;
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::sync::{Notify, mpsc, oneshot};

use super::{
    Dispatched, Envelope, Http, RpcError,
    dispatch::dispatch,
    envelope::{RequestParams, batch},
    error::shortened,
    listen::change_notification,
    meta::{KnownCapabilities, MAX_META_LENGTH},
    older::in_words_of,
};
use crate::{
    ask::Question,
    auth::Principal,
    error::{CallError, lock},
    model::{Implementation, error_code, version},
    request::{Capabilities, Era, Level, RequestInfo, SharedValues},
    rounds::SessionClient,
    server::{ChangeFilter, Engine, Listener, TargetKind},
};

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    engine: Arc<Engine>,
    /// What identifies it; `None` if it lasts for one request only.
    id: Option<Arc<str>>,
    /// The changes of lists and resources that the client hears about.
    changes: Listener,
    /// When the credentials expire with which it hears about them.
    expires: Mutex<Option<SystemTime>>,
    /// Whether it lasts for one request only, so that nothing can be announced in it.
    is_for_one_request: bool,
    /// What functions keep in it; `None` if it lasts for one request only.
    values: Option<Arc<SharedValues>>,
    state: Mutex<OpenSession>,
    /// Notified when there may be a message that belongs to no request.
    expects_more: Notify,
}

#[derive(Debug)]
struct OpenSession {
    /// What `initialize` brought.
    client: Option<Introduction>,
    /// Whether the client expects messages outside any request.
    initialized: bool,
    /// The least severe log message that the client wants.
    level: Level,
    /// The questions that wait for an answer, by request id.
    questions: HashMap<u64, oneshot::Sender<ClientAnswer>>,
    next_question: u64,
    /// Whether no more messages come from the client.
    hung_up: bool,
    /// Whether the server has ended all subscriptions.
    changes_ended: bool,
    /// Messages that belong to no request.
    outgoing: VecDeque<Bytes>,
}

/// What a client sends in reply to a question.
type ClientAnswer = Result<Box<RawValue>, RpcError>;

/// Who the client is and what it can do, as far as the server remembers it.
#[derive(Debug, Clone)]
struct Introduction {
    version: &'static str,
    capabilities: Capabilities,
    /// The `clientInfo`, as JSON.
    info: Option<Bytes>,
}

/// A method that only sessions have.
#[derive(Debug, Clone, Copy)]
pub(super) enum SessionMethod {
    Initialize,
    Ping,
    SetLevel,
    Subscribe,
    Unsubscribe,
}

/// The questions of a call, as messages to its client.
pub(super) type Questions = mpsc::UnboundedReceiver<Bytes>;

/// How many messages outside any request wait for a client; beyond that the oldest is dropped.
const MOST_OUTGOING: usize = 64;

impl Session {
    /// A session that waits for `initialize`.
    pub(crate) fn new(engine: &Arc<Engine>, id: Option<String>) -> Self {
        let lists = TargetKind::ALL.map(|kind| engine.declares(kind));
        let filter = ChangeFilter { lists, ..ChangeFilter::default() };
        let state = OpenSession {
            client: None,
            initialized: false,
            // Until the client sets a level, it gets what a person would want to read.
            level: Level::Info,
            questions: HashMap::new(),
            next_question: 0,
            hung_up: false,
            changes_ended: false,
            outgoing: VecDeque::new(),
        };
        let changes = engine.subscribe(filter);
        let (engine, id) = (Arc::clone(engine), id.map(Arc::from));
        let expires = Mutex::default();
        Self {
            engine,
            id,
            changes,
            expires,
            is_for_one_request: false,
            values: Some(Arc::default()),
            state: Mutex::new(state),
            expects_more: Notify::new(),
        }
    }

    /// A session for one request. If the request does not begin it, the client has this version, and its capabilities are not
    /// known, so it can be asked nothing.
    pub(crate) fn for_one_request(engine: &Arc<Engine>, version: Option<&'static str>) -> Self {
        let mut session = Self { is_for_one_request: true, values: None, ..Self::new(engine, None) };
        let introduction = |version| Introduction { version, capabilities: Capabilities::default(), info: None };
        session.state.get_mut().unwrap_or_else(PoisonError::into_inner).client = version.map(introduction);
        session
    }

    fn state(&self) -> MutexGuard<'_, OpenSession> {
        // Every statement leaves the state valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The negotiated version; `None` before `initialize`.
    pub(crate) fn version(&self) -> Option<&'static str> {
        self.state().client.as_ref().map(|client| client.version)
    }

    /// The messages of a batch, which only one version has.
    pub(crate) fn batch(&self, body: &Bytes) -> Result<Vec<Bytes>, &'static str> {
        if self.version() != Some(version::V2025_03_26) {
            return Err("batches are only in protocol version 2025-03-26: send one message per request");
        }
        batch(body, self.engine.limits().message_values).ok_or("a batch is an array of 1 to 100 messages")
    }

    /// Takes a message of the client.
    pub(crate) fn receive(self: &Arc<Self>, body: &Bytes, envelope: Envelope<'_>, http: Http) -> Dispatched {
        match (envelope.method.as_deref(), envelope.id) {
            (Some(_), Some(_)) => return dispatch(&self.engine, body, envelope, http, Some(self)),
            (Some("notifications/initialized"), None) => self.expect_messages(),
            (Some(_), None) => {}
            (None, _) => self.take_answer(&envelope),
        }
        Dispatched::Nothing
    }

    /// The result of a method that is about the session itself.
    pub(super) fn answer(&self, method: SessionMethod, params: &RequestParams<'_>) -> Result<Value, RpcError> {
        match method {
            SessionMethod::Initialize => return self.initialize(params.whole()),
            SessionMethod::Ping => {}
            _ if self.version().is_none() => return Err(not_begun()),
            SessionMethod::SetLevel => self.state().level = level(params.whole())?,
            SessionMethod::Subscribe if self.is_for_one_request => {
                return Err(RpcError::invalid_request("this server keeps no sessions, so it cannot announce changes"));
            }
            SessionMethod::Subscribe => {
                let uri = params.uri()?.into_owned();
                // Some clients never send `notifications/initialized`.
                self.expect_messages();
                self.changes.add_resource(uri).map_err(RpcError::invalid_params)?;
            }
            SessionMethod::Unsubscribe => {
                let uri = params.uri()?;
                self.changes.remove_resource(&uri);
            }
        }
        Ok(json!({}))
    }

    fn initialize(&self, params: &str) -> Result<Value, RpcError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct InitializeParams {
            protocol_version: String,
            capabilities: KnownCapabilities,
            client_info: Implementation,
        }
        if params.len() > MAX_META_LENGTH {
            let message = format!("`params` of `initialize` is larger than {MAX_META_LENGTH} bytes");
            return Err(RpcError::invalid_params(message));
        }
        let mut state = self.state();
        if state.client.is_some() {
            return Err(RpcError::invalid_request("this session is initialized already"));
        }
        let params: InitializeParams = serde_json::from_str(params).map_err(|error| {
            RpcError::invalid_params(format!(
                "`params` is not what `initialize` takes: {}",
                shortened(&error.to_string())
            ))
        })?;
        let version = version::SESSION
            .iter()
            .copied()
            .find(|version| *version == params.protocol_version)
            .unwrap_or(version::SESSION[0]);
        let info = serde_json::to_vec(&without_pictures(params.client_info)).ok().map(Bytes::from);
        let capabilities = Capabilities { tasks: false, ..params.capabilities.into() };
        state.client = Some(Introduction { version, capabilities, info });
        let engine = &self.engine;
        let mut result =
            json!({ "protocolVersion": version, "capabilities": engine.capabilities(), "serverInfo": engine.info() });
        // Tasks are for requests that stand alone.
        result["capabilities"].as_object_mut().map(|offered| offered.shift_remove("extensions"));
        if self.is_for_one_request {
            for capability in result["capabilities"].as_object_mut().into_iter().flat_map(Map::values_mut) {
                capability.as_object_mut().into_iter().for_each(|flags| {
                    flags.retain(|flag, _| !["subscribe", "listChanged"].contains(&flag.as_str()));
                });
            }
        }
        if let Some(instructions) = engine.instructions() {
            result["instructions"] = instructions.into();
        }
        in_words_of(version, &mut result);
        Ok(result)
    }

    /// What the session knows about a call, how the call asks, and where its questions arrive.
    pub(super) fn call(self: &Arc<Self>) -> Result<(RequestInfo, CallPeer, Questions), RpcError> {
        let state = self.state();
        let client = state.client.clone().ok_or_else(not_begun)?;
        let (to_stream, questions) = mpsc::unbounded_channel();
        let peer = CallPeer { session: Arc::clone(self), version: client.version, to_stream };
        let info = RequestInfo {
            era: Era::Session,
            protocol_version: client.version.into(),
            capabilities: client.capabilities,
            client: client.info,
            log_level: Some(state.level),
            session_id: self.id.clone(),
            session_values: self.values.clone(),
            ..RequestInfo::default()
        };
        Ok((info, peer, questions))
    }

    /// Sets who hears about changes: the caller of a request of this session.
    pub(super) fn listen_as(self: &Arc<Self>, http: Http) {
        let Ok((mut info, ..)) = self.call() else { return };
        http.describe(&mut info);
        // A function that panics is an error of the next request.
        if self.engine.identify(&mut info).is_err() {
            return;
        }
        *lock(&self.expires) = info.principal.as_ref().and_then(Principal::expires);
        self.changes.listen_as(info);
    }

    /// Goes on hearing about changes with the credentials of a request, if they are newer.
    pub(super) fn renew(&self, caller: Option<&Principal>) {
        let Some((caller, until)) = caller.and_then(|caller| Some((caller, caller.expires()?))) else { return };
        if lock(&self.expires).as_mut().is_some_and(|expires| std::mem::replace(expires, until.max(*expires)) < until) {
            self.changes.renew(caller.clone());
        }
    }

    /// Takes the answer to a question, or the error instead of one.
    fn take_answer(&self, envelope: &Envelope<'_>) {
        let question =
            envelope.id.and_then(|id| id.parse().ok()).and_then(|id: u64| self.state().questions.remove(&id));
        let Some(question) = question else {
            return tracing::debug!("unexpected response: the server has no open request with this id");
        };
        let answer = match envelope.error {
            Some(error) => Err(client_error(error)),
            None => Ok(envelope.result.unwrap_or(RawValue::NULL).to_owned()),
        };
        // A call that is over does not wait for it.
        let _ = question.send(answer);
    }

    /// Ends the open questions: no more messages come from the client.
    pub(crate) fn hang_up(&self) {
        let mut state = self.state();
        state.hung_up = true;
        state.questions.clear();
    }

    /// The next message that belongs to no request; `None`, once, when the server ends all subscriptions.
    pub(crate) async fn message(&self) -> Option<Bytes> {
        loop {
            let (message, hears) = {
                let mut state = self.state();
                (state.outgoing.pop_front(), state.initialized && !state.changes_ended)
            };
            if message.is_some() {
                return message;
            }
            tokio::select! {
                change = poll_fn(|cx| self.changes.poll_change(cx)), if hears => {
                    self.state().changes_ended = change.is_none();
                    return change.map(change_notification);
                }
                () = self.expects_more.notified() => {}
            }
        }
    }

    /// The client expects messages outside any request from now on.
    fn expect_messages(&self) {
        let mut state = self.state();
        state.initialized |= state.client.is_some();
        self.expects_more.notify_one();
    }

    /// Sends a message that belongs to no request.
    fn send(&self, message: Bytes) {
        let mut state = self.state();
        if state.outgoing.len() == MOST_OUTGOING {
            state.outgoing.pop_front();
        }
        state.outgoing.push_back(message);
        self.expects_more.notify_one();
    }
}

/// The client of a session, as one call sees it.
pub(super) struct CallPeer {
    session: Arc<Session>,
    version: &'static str,
    /// The stream of the call, whichever of its futures asks.
    to_stream: mpsc::UnboundedSender<Bytes>,
}

impl SessionClient for CallPeer {
    fn ask<'a>(&'a self, key: &'a str, question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallError>> {
        Box::pin(async move {
            let mut params = question.params_in(self.version);
            // What the stateless era has in the request itself: it identifies the question in logs and tests.
            params["_meta"] = json!({ "rejoinder/key": key });
            if matches!(question, Question::Visit { .. }) {
                // The session era wants an id for the visit; the stateless era must not have it.
                params["elicitationId"] = json!(random_id()?);
            }
            let (open, answer) = self.open_question().ok_or_else(|| no_answer_can_come(key))?;
            let method = question.method();
            let message = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, open.id);
            // It is long, and the message has all of it.
            drop(params);
            if self.to_stream.send(message.into()).is_err() {
                return Err(CallError::new(format!("the client could not be asked `{key}`: the call is over")));
            }
            // A quick client may have answered by now, and a decline would end the call before the questions of the
            // same wave are out.
            tokio::task::yield_now().await;
            // As long as the state of a stateless call is valid: an answer that never comes must not keep the call.
            let longest = self.session.engine.state_ttl();
            let Ok(answer) = tokio::time::timeout(longest, answer).await else {
                let message = format!("the client did not answer `{key}` in time (limit {} s)", longest.as_secs());
                return Err(CallError::new(message));
            };
            match answer {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(RpcError { code: error_code::USER_REJECTED, .. })) => {
                    Ok(to_raw_value(&json!({ "action": "decline" }))?)
                }
                Ok(Err(RpcError { code, message, .. })) => {
                    Err(CallError::unanswered(key, format_args!("{} ({code})", shortened(&message))))
                }
                Err(_) => Err(no_answer_can_come(key)),
            }
        })
    }
}

impl CallPeer {
    fn open_question(&self) -> Option<(SentQuestion<'_>, oneshot::Receiver<ClientAnswer>)> {
        let mut state = self.session.state();
        if state.hung_up {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        let id = state.next_question;
        state.next_question += 1;
        state.questions.insert(id, sender);
        Some((SentQuestion { peer: self, id }, receiver))
    }
}

/// A question without an answer. Dropping it takes the question back, so that no useless form stays on the screen.
struct SentQuestion<'a> {
    peer: &'a CallPeer,
    id: u64,
}

impl Drop for SentQuestion<'_> {
    fn drop(&mut self) {
        let session = &self.peer.session;
        if session.state().questions.remove(&self.id).is_none() {
            return;
        }
        let params = json!({ "requestId": self.id, "reason": "the answer is no longer needed" });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        let cancelled = Bytes::from(cancelled.to_string());
        if let Err(mpsc::error::SendError(cancelled)) = self.peer.to_stream.send(cancelled) {
            session.send(cancelled);
        }
    }
}

/// The level that `logging/setLevel` sets.
fn level(params: &str) -> Result<Level, RpcError> {
    #[derive(Deserialize)]
    struct SetLevelParams {
        level: Level,
    }
    let params: SetLevelParams = serde_json::from_str(params)
        .map_err(|error| RpcError::invalid_params(format!("`params` is not what `logging/setLevel` takes: {error}")))?;
    Ok(params.level)
}

fn not_begun() -> RpcError {
    RpcError::invalid_request("a session begins with `initialize`")
}

fn no_answer_can_come(key: &str) -> CallError {
    CallError::new(format!(
        "the client could not be asked `{key}`: nothing more is read from its pipe, so no answer can come"
    ))
}

/// An id that nobody can guess.
pub(crate) fn random_id() -> Result<String, ring::error::Unspecified> {
    let mut id = [0; 16];
    SystemRandom::new().fill(&mut id)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(id)))
}

/// The error that a client sends instead of an answer.
fn client_error(error: &RawValue) -> RpcError {
    #[derive(Deserialize)]
    struct WireError {
        code: i32,
        message: String,
    }
    match serde_json::from_str::<WireError>(error.get()) {
        Ok(error) => RpcError::new(error.code, error.message),
        Err(_) => RpcError::invalid_request("it sent an error that cannot be read"),
    }
}

/// A `clientInfo` that is worth keeping for as long as the session lasts.
fn without_pictures(info: Implementation) -> Implementation {
    let mut kept = Implementation::new(shortened(&info.name), shortened(&info.version));
    kept.title = info.title.as_deref().map(shortened);
    kept
}
