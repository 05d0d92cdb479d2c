//! Sessions over Streamable HTTP: who has one, and for how long.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
    time::Duration,
};

use ::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, request::Parts};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use tokio::{
    sync::oneshot,
    task::AbortHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    ResponseBody,
    body::event,
    request::{HttpRefusal, accepts_events},
    service::{Begun, event_stream, json, status},
    session_stream::{LARGEST_KEPT, RETRY, ReplyStream, SessionStream, parse_event_id},
};
use crate::{
    auth::{BudgetFull, Held, Principal},
    call::AfterReply,
    error::lock,
    model::{
        error_code,
        header_name::{PROTOCOL_VERSION, SESSION_ID},
        version,
    },
    protocol::{
        Dispatched, Envelope, Frame, Http, RequestKey, RpcError, RpcReply, Session, Stream, admit_request,
        cancelled_request, end_request, error_reply, random_id,
    },
    request::{Era, RequestInfo},
    server::{Engine, Refusal},
};

/// All sessions over HTTP.
pub(in crate::transport) struct HttpSessions {
    engine: Arc<Engine>,
    pub(in crate::transport) sessions: Arc<Mutex<SessionMap>>,
}

#[derive(Default)]
pub(in crate::transport) struct SessionMap {
    pub(in crate::transport) open: HashMap<String, Arc<HttpSession>>,
    /// Whether the server is shutting down.
    closed: bool,
}

impl SessionMap {
    /// Ends the one of these sessions that has been idle longest, one that was never used first; `false` if there is none.
    fn end_idle(&mut self, is_meant: impl Fn(&HttpSession) -> bool) -> bool {
        let meant = self.open.values().filter(|session| is_meant(session));
        let idle = meant.filter_map(|session| Some((session.state().idle()?, session)));
        let Some((_, idle)) = idle.max_by_key(|(idle, _)| *idle) else { return false };
        let idle = Arc::clone(idle);
        self.open.remove(&idle.id);
        idle.end();
        true
    }
}

/// What becomes of a message of a session.
enum SessionResponse<S> {
    Nothing,
    Reply(RpcReply),
    /// Events, unless the reply with which the door refuses a call comes first.
    Events(S, Option<oneshot::Receiver<RpcReply>>),
}

/// Some clients do not look into the body of an error status.
fn in_session(error: RpcError) -> HttpRefusal {
    HttpRefusal { status: StatusCode::OK, error }
}

/// Who a request is from.
pub(super) type Owner = Option<Principal>;

/// Who a request is from.
pub(super) fn owner_of(engine: &Engine, parts: &Parts) -> Result<Owner, HttpRefusal> {
    if !engine.identifies_callers() {
        return Ok(parts.extensions.get::<Principal>().cloned());
    }
    let http = Some(Arc::new((parts.headers.clone(), parts.extensions.clone())));
    let mut request = RequestInfo { http, era: Era::Session, ..RequestInfo::default() };
    let identified = engine.identify(&mut request);
    let refused = |refusal: Refusal| {
        let is_expired = matches!(refusal, Refusal::Expired);
        let status = if is_expired { StatusCode::UNAUTHORIZED } else { StatusCode::INTERNAL_SERVER_ERROR };
        HttpRefusal { status, error: refusal.into() }
    };
    identified.map_err(refused)?;
    Ok(request.principal)
}

/// Returns whether the session belongs to the caller. The session of another caller looks like an unknown session.
pub(super) fn is_owner(engine: &Engine, owner: &Owner, caller: &Owner) -> bool {
    let is_owner = owner == caller;
    if !is_owner && let Some(times) = engine.refusal_due("session".into()) {
        tracing::warn!(times, "refused a request: the session that it names belongs to another caller");
    }
    is_owner
}

impl HttpSessions {
    /// None yet.
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, sessions: Arc::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, SessionMap> {
        lock(&self.sessions)
    }

    /// The sessions, unless the server is shutting down.
    fn open(&self) -> Result<MutexGuard<'_, SessionMap>, HttpRefusal> {
        let sessions = self.sessions();
        if sessions.closed {
            return Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down"));
        }
        Ok(sessions)
    }

    /// Takes a message.
    pub(super) fn post(&self, parts: Parts, body: &Bytes, envelope: Envelope<'_>) -> Begun {
        let id = envelope.id;
        let begin = || {
            let owner = owner_of(&self.engine, &parts).map_err(|refusal| in_session(refusal.error))?;
            let begins = envelope.method.as_deref() == Some("initialize") && id.is_some();
            let (config, longest_silence) = (self.engine.http(), self.engine.http().stream_after);
            if !config.session_memory {
                // Each message is served on its own, as if its session had just begun.
                let version = if begins { None } else { Some(check_version(&parts.headers)?) };
                let session = Arc::new(Session::for_one_request(&self.engine, version));
                let http = Http::new(parts.headers, parts.extensions).sent_by(owner);
                return Ok(Begun::with(session.receive(body, envelope, http), id, true, longest_silence));
            }
            if begins && !parts.headers.contains_key(SESSION_ID) {
                return self.begin(body, envelope, owner).map(Begun::Response);
            }
            let session = self.find(&parts.headers, &owner, begins)?;
            Ok(match self.receive(&session, owner, parts, body, envelope)? {
                SessionResponse::Nothing => Begun::Response(status(StatusCode::ACCEPTED)),
                SessionResponse::Reply(reply) => Begun::Response(json(reply)),
                SessionResponse::Events(events, None) => Begun::Response(event_stream(ResponseBody::events(events))),
                // Clients ask their user for a scope only if the status says that it is missing.
                SessionResponse::Events(events, Some(mut refused)) => Begun::Later(Box::pin(async move {
                    let reply = timeout(longest_silence, &mut refused).await.ok().and_then(Result::ok);
                    refused.close();
                    match reply.or_else(|| refused.try_recv().ok()) {
                        Some(reply) => json(reply),
                        None => event_stream(ResponseBody::events(events)),
                    }
                })),
            })
        };
        begin().unwrap_or_else(|refusal: HttpRefusal| Begun::Response(refusal.response(id)))
    }

    /// Opens a stream, or ends the session.
    pub(super) fn get_or_delete(&self, parts: &Parts) -> Result<Response<ResponseBody>, HttpRefusal> {
        let session = self.find(&parts.headers, &owner_of(&self.engine, parts)?, false)?;
        if parts.method == Method::DELETE {
            self.sessions().open.remove(&session.id);
            session.end();
            // The Python SDK takes any other success for a failure, and warns of it.
            return Ok(status(StatusCode::NO_CONTENT));
        }
        if !accepts_events(&parts.headers)? {
            return Err(HttpRefusal::not_acceptable());
        }
        let last = parts.headers.get("last-event-id").and_then(|id| id.to_str().ok());
        let (stream, after) = match last.map(parse_event_id) {
            None => (Some(Arc::clone(&session.own)), None),
            Some(id) => (id.and_then(|(stream, _)| session.stream(stream)), id.map(|(_, number)| number)),
        };
        Ok(event_stream(match stream {
            Some(stream) => ResponseBody::events(stream.connect(after, &session)),
            // An error would make the client try again with the same id; a stream that ends does not.
            None => ResponseBody::empty(),
        }))
    }

    /// The session that the headers name.
    fn find(&self, headers: &HeaderMap, owner: &Owner, begins: bool) -> Result<Arc<HttpSession>, HttpRefusal> {
        let mut named = headers.get_all(SESSION_ID).iter();
        let sessions = self.open()?;
        let Some(first) = named.next() else {
            return Err(HttpRefusal::new(
                StatusCode::BAD_REQUEST,
                "the `Mcp-Session-Id` header is missing: a session begins with `initialize`; a request without a session \
                 names the version 2026-07-28, in the header `MCP-Protocol-Version` and in `params._meta`",
            ));
        };
        let id = first.to_str().ok().filter(|_| named.next().is_none());
        let session = id
            .and_then(|id| sessions.open.get(id))
            .filter(|session| is_owner(&self.engine, &session.owner, owner))
            .cloned();
        drop(sessions);
        let Some(session) = session else {
            let reason = "unknown session: start a new one with `initialize`";
            return Err(HttpRefusal::new(StatusCode::NOT_FOUND, reason));
        };
        if !begins {
            check_version(headers)?;
        }
        let mut state = session.state();
        (state.last_used, state.is_new) = (Instant::now(), false);
        drop(state);
        Ok(session)
    }

    /// Answers `initialize`.
    fn begin(&self, body: &Bytes, envelope: Envelope<'_>, owner: Owner) -> Result<Response<ResponseBody>, HttpRefusal> {
        let id = new_session_id()?;
        let session = Arc::new(Session::new(&self.engine, Some(id.clone())));
        // Nothing of its head is kept for as long as the session, except who the caller is.
        let http = Http::default().sent_by(owner.clone());
        let Dispatched::Reply(reply) = session.receive(body, envelope, http) else {
            unreachable!("`initialize` has a reply")
        };
        if session.version().is_none() {
            return Ok(json(reply.with_status(StatusCode::BAD_REQUEST)));
        }
        let mut response = json(reply);
        let mut sessions = self.open()?;
        let share = self.engine.session_places();
        let mut slot = share.take(owner.as_ref(), 1);
        if slot.is_err() && sessions.end_idle(|session| session.owner == owner) {
            slot = share.take(owner.as_ref(), 1);
        }
        let slot = slot?;
        // Nobody can keep others out with sessions that nobody uses.
        if sessions.open.len() >= self.engine.http().max_sessions && !sessions.end_idle(|_| true) {
            let reason = "too many sessions, try again later";
            return Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        }
        response.headers_mut().insert(SESSION_ID, HeaderValue::try_from(&id).expect("digits are a header's value"));
        let state = HttpSessionState {
            requests: HashMap::new(),
            finished: VecDeque::new(),
            last_stream: 0,
            last_used: Instant::now(),
            reading: 0,
            is_new: true,
            slot,
        };
        let own = Arc::new(SessionStream::new(0, &self.engine.bytes().hold(owner.as_ref())));
        let (ended, state) = (CancellationToken::new(), Mutex::new(state));
        let session = Arc::new(HttpSession { id: id.clone(), session, owner, own, state, ended });
        let attend = Arc::clone(&session).attend(self.engine.http().session_timeout, Arc::clone(&self.sessions));
        tokio::spawn(attend);
        sessions.open.insert(id, session);
        Ok(response)
    }

    /// Takes a message of a session.
    fn receive(
        &self,
        session: &Arc<HttpSession>,
        caller: Owner,
        mut parts: Parts,
        body: &Bytes,
        envelope: Envelope<'_>,
    ) -> Result<SessionResponse<impl stream::Stream<Item = Bytes> + Send + use<>>, HttpRefusal> {
        let Some(id) = envelope.id.filter(|_| envelope.method.is_some()) else {
            if let Some(cancelled) = cancelled_request(&envelope) {
                session.cancel(&cancelled);
            }
            session.session.receive(body, envelope, Http::default());
            return Ok(SessionResponse::Nothing);
        };
        let request = session.open_request(id, self.engine.http().max_calls_per_session).map_err(in_session)?;
        let resumes = session.session.version() == Some(version::SESSION[0]);
        parts.extensions.insert(ReplyStream(resumes.then(|| Arc::clone(&request.stream))));
        let http = Http::new(parts.headers, parts.extensions).sent_by(caller);
        let mut call = match session.session.receive(body, envelope, http) {
            Dispatched::Stream(call) => call,
            Dispatched::Reply(reply) => return Ok(SessionResponse::Reply(reply)),
            Dispatched::Nothing => return Ok(SessionResponse::Nothing),
        };
        // One that does not end now is polled again, by its own task.
        let first = match call.poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Frame::Last(reply)) => return Ok(SessionResponse::Reply(reply)),
            Poll::Ready(Frame::Notification(message)) => Some((false, message)),
            Poll::Ready(Frame::Request(message)) => Some((true, message)),
            Poll::Pending => None,
        };
        let events = request.stream.connect(None, session);
        if resumes {
            request.stream.send_retry(RETRY);
        }
        let first_is_none = first.is_none();
        if let Some((is_kept, message)) = first {
            request.stream.push(is_kept, &message);
        }
        let key = Arc::clone(&request.key);
        let is_open = first_is_none && !call.is_decided() && self.engine.can_step_up();
        let (refuse, refused): (Option<oneshot::Sender<RpcReply>>, _) = is_open.then(oneshot::channel).unzip();
        let task = tokio::spawn(request.run(call, refuse).in_current_span()).abort_handle();
        let mut state = session.state();
        match end_request(&mut state.requests, &key) {
            Some((stream, _)) if !session.ended.is_cancelled() => {
                state.requests.insert(key, (stream, Some(task)));
            }
            // It was cancelled. Dropping the request locks the state.
            _ => {
                drop(state);
                task.abort();
            }
        }
        Ok(SessionResponse::Events(events, refused))
    }

    /// Takes a batch, which only protocol version 2025-03-26 has. The replies are events.
    pub(super) fn post_batch(&self, parts: &Parts, body: &Bytes) -> Result<Response<ResponseBody>, HttpRefusal> {
        let owner = owner_of(&self.engine, parts)?;
        let session = self.find(&parts.headers, &owner, false)?;
        let messages = session.session.batch(body);
        let messages = messages.map_err(|reason| HttpRefusal::new(StatusCode::BAD_REQUEST, reason))?;
        let (mut replies, mut streams) = (Vec::new(), Vec::new());
        for message in messages {
            let reply = match Envelope::read(&message, self.engine.limits().message_values) {
                Ok(envelope) => {
                    let id = envelope.id;
                    match self.receive(&session, owner.clone(), parts.clone(), &message, envelope) {
                        Ok(SessionResponse::Nothing) => continue,
                        Ok(SessionResponse::Reply(reply)) => reply,
                        Ok(SessionResponse::Events(events, refused)) => {
                            // It may have been refused by now. The status is that of the whole batch.
                            let refused = refused.and_then(|mut refused| {
                                refused.close();
                                refused.try_recv().ok()
                            });
                            let Some(reply) = refused else {
                                streams.push(Box::pin(events));
                                continue;
                            };
                            reply
                        }
                        Err(refusal) => error_reply(id, &refusal.error),
                    }
                }
                Err(bad) => error_reply(bad.id.as_deref(), &bad.error),
            };
            let (reply, after) = reply.into_parts();
            replies.push(AfterReply::hold(after, event(reply.pieces())));
        }
        if replies.is_empty() && streams.is_empty() {
            return Ok(status(StatusCode::ACCEPTED));
        }
        Ok(event_stream(ResponseBody::events(stream::iter(replies).chain(stream::select_all(streams)))))
    }

    /// Ends all sessions and their calls, and takes no more.
    pub(super) fn close(&self) {
        let open = {
            let mut sessions = self.sessions();
            sessions.closed = true;
            std::mem::take(&mut sessions.open)
        };
        open.values().for_each(|session| session.end());
    }
}

impl Drop for HttpSessions {
    fn drop(&mut self) {
        self.close();
    }
}

/// An id that nobody can guess.
pub(super) fn new_session_id() -> Result<String, HttpRefusal> {
    random_id().map_err(|error| {
        tracing::error!(%error, "cannot generate a session id: the system has no randomness");
        let error = RpcError::new(error_code::INTERNAL_ERROR, "the session failed");
        HttpRefusal { status: StatusCode::INTERNAL_SERVER_ERROR, error }
    })
}

/// The version that the header names; clients that do not know the header are of 2025-03-26 or earlier.
fn check_version(headers: &HeaderMap) -> Result<&'static str, HttpRefusal> {
    let mut versions = headers.get_all(PROTOCOL_VERSION).iter();
    let (first, second) = (versions.next(), versions.next());
    let error = match first {
        _ if second.is_some() => RpcError::invalid_request("there is more than one `MCP-Protocol-Version` header"),
        None => return Ok(version::V2025_03_26),
        Some(named) => match version::SESSION.iter().find(|version| named == version) {
            Some(version) => return Ok(version),
            None => RpcError::unsupported_version(&String::from_utf8_lossy(named.as_bytes()), true),
        },
    };
    Err(HttpRefusal { status: StatusCode::BAD_REQUEST, error })
}

/// A session, as HTTP carries it.
pub(in crate::transport) struct HttpSession {
    id: String,
    pub(super) session: Arc<Session>,
    owner: Owner,
    /// The stream for messages that belong to no request.
    own: Arc<SessionStream>,
    state: Mutex<HttpSessionState>,
    ended: CancellationToken,
}

pub(in crate::transport) struct HttpSessionState {
    /// The requests that are being answered, each with its stream and the task of its call.
    pub(in crate::transport) requests: HashMap<RequestKey, (Arc<SessionStream>, Option<AbortHandle>)>,
    /// The last streams that have their reply: it may have been lost on its way to the client.
    finished: VecDeque<Arc<SessionStream>>,
    last_stream: u64,
    /// When the client was last there.
    pub(super) last_used: Instant,
    /// How many streams it reads.
    pub(super) reading: usize,
    /// Whether nothing has followed `initialize`.
    is_new: bool,
    /// Its place among the sessions of its owner, until it ends.
    slot: Held,
}

impl HttpSessionState {
    /// Whether nothing has followed `initialize`, and how long the client has neither sent nor read anything; `None` while it
    /// reads.
    fn idle(&self) -> Option<(bool, Duration)> {
        (self.reading == 0).then(|| (self.is_new, self.last_used.elapsed()))
    }
}

/// How many streams a session keeps after their reply, beside the newest. They have as many bytes as one reply may have.
const MOST_FINISHED: usize = 16;

/// How long a session lasts in which nothing follows `initialize`.
const NEW_SESSION: Duration = Duration::from_secs(60);

impl HttpSession {
    pub(in crate::transport) fn state(&self) -> MutexGuard<'_, HttpSessionState> {
        lock(&self.state)
    }

    /// How long the session still lasts if its client stays away.
    fn lasts(&self, longest: Duration) -> Duration {
        match self.state().idle() {
            Some((true, idle)) => longest.min(NEW_SESSION).saturating_sub(idle),
            Some((false, idle)) => longest.saturating_sub(idle),
            None => longest,
        }
    }

    fn stream(&self, number: u64) -> Option<Arc<SessionStream>> {
        if number == 0 {
            return Some(Arc::clone(&self.own));
        }
        let state = self.state();
        let running = state.requests.values().map(|(stream, _)| stream);
        running.chain(&state.finished).find(|stream| stream.number == number).cloned()
    }

    /// Opens a request with that id, unless there is one, or there are too many.
    fn open_request(self: &Arc<Self>, id: &str, most: usize) -> Result<OpenRequest, RpcError> {
        let mut state = self.state();
        state.last_stream += 1;
        let stream = Arc::new(self.own.another(state.last_stream));
        let key = admit_request(&mut state.requests, id, (Arc::clone(&stream), None))?;
        if state.requests.len() > most {
            state.requests.remove(&key);
            return Err(Refusal::Full(BudgetFull::of_calls(most)).into());
        }
        Ok(OpenRequest { session: Arc::clone(self), key, stream })
    }

    /// Cancels a request.
    fn cancel(&self, request: &str) {
        let cancelled = self.state().requests.remove(request);
        cancelled.and_then(|(_, task)| task).inspect(AbortHandle::abort);
    }

    /// Ends the session, its calls and its streams.
    fn end(&self) {
        self.ended.cancel();
        self.session.hang_up();
        let mut state = self.state();
        state.slot = Held::default();
        // Dropping a request locks the state.
        let requests = std::mem::take(&mut state.requests);
        drop(state);
        requests.values().filter_map(|(_, task)| task.as_ref()).for_each(AbortHandle::abort);
        self.own.finish();
    }

    /// Sends the messages that belong to no request, until the session ends: by itself, when its client has been away
    /// for too long.
    async fn attend(self: Arc<Self>, longest: Duration, sessions: Arc<Mutex<SessionMap>>) {
        loop {
            let message = async {
                self.own.wanted().await;
                self.session.message().await
            };
            tokio::select! {
                () = self.ended.cancelled() => return,
                message = message => match message {
                    Some(message) => self.own.push(true, &message),
                    // The server is shutting down.
                    None => self.own.finish(),
                },
                () = sleep(self.lasts(longest)) => {
                    if self.lasts(longest).is_zero() {
                        break;
                    }
                }
            }
        }
        lock(&sessions).open.remove(&self.id);
        self.end();
    }
}

/// A request that is being answered, until this is dropped.
struct OpenRequest {
    session: Arc<HttpSession>,
    key: RequestKey,
    /// Where its messages go. It ends with the request, also if the task of the call is cancelled before it runs.
    stream: Arc<SessionStream>,
}

impl OpenRequest {
    /// Runs a call to its end: in a task of its own, because it outlives the connection.
    /// While nothing has been decided about it, `refuse` takes the reply that decides about the status.
    async fn run(self, mut call: Stream, mut refuse: Option<oneshot::Sender<RpcReply>>) {
        loop {
            let frame = poll_fn(|cx| {
                let polled = call.poll_frame(cx);
                refuse.take_if(|_| polled.is_pending() && call.is_decided());
                polled
            });
            tokio::select! {
                // What the call sent before it disconnects its client arrives before.
                biased;
                frame = frame => match (frame, refuse.take()) {
                    (Frame::Notification(message), _) => self.stream.send(false, &message).await,
                    (Frame::Request(message), _) => self.stream.send(true, &message).await,
                    (Frame::Last(reply), refuse) => {
                        let sent = match refuse {
                            Some(refuse) if !reply.scopes.is_empty() => refuse.send(reply),
                            _ => Err(reply),
                        };
                        if let Err(reply) = sent {
                            self.keep();
                            self.stream.push_last(reply);
                        }
                        // Before the call: a server that stops waits for its calls, and then ends its sessions.
                        return drop(self);
                    }
                },
                () = self.stream.asked_to_disconnect() => self.stream.disconnect(),
            }
        }
    }

    /// The call is over. Its messages are kept for a while.
    fn keep(&self) {
        let mut state = self.session.state();
        let Some((stream, _)) = end_request(&mut state.requests, &self.key) else { return };
        let finished = &mut state.finished;
        let mut bytes: usize = finished.iter().map(|stream| stream.size()).sum();
        while finished.len() >= MOST_FINISHED || bytes > LARGEST_KEPT {
            bytes -= finished.pop_front().map_or(bytes, |stream| stream.size());
        }
        finished.push_back(stream);
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        end_request(&mut self.session.state().requests, &self.key);
        self.stream.finish();
    }
}
