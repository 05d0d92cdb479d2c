//! Sessions over Streamable HTTP: who has one, and for how long.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard},
    task::Poll,
    time::Duration,
};

use ::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, request::Parts};
use bytes::Bytes;
use tokio::{
    sync::mpsc,
    task::AbortHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    ResponseBody,
    request::{HttpRefusal, accepts_events},
    service::{event_stream, json, run, status},
    session_stream::{Disconnects, RETRY, ReplyStream, SessionStream, StreamSender, parse_event_id},
};
use crate::{
    auth::{CallerSlot, Principal},
    call::{Era, RequestInfo},
    lock,
    protocol::{
        Dispatched, Envelope, Frame, Http, LEGACY, RequestKey, RpcError, Session, Stream, admit_request,
        cancelled_request, end_request, error_reply, random_id,
    },
    server::{Engine, Refusal},
};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// All sessions over HTTP.
pub(in crate::transport) struct HttpSessions {
    engine: Arc<Engine>,
    sessions: Arc<Mutex<SessionMap>>,
}

#[derive(Default)]
struct SessionMap {
    open: HashMap<String, Arc<HttpSession>>,
    /// Whether the server is shutting down.
    closed: bool,
}

impl SessionMap {
    /// Ends the one of these sessions that has been idle longest, one that was never used first; `false` if there is none.
    fn end_idle(&mut self, is_meant: impl Fn(&HttpSession) -> bool) -> bool {
        let idle = self.open.values().filter(|session| session.state().reading == 0 && is_meant(session));
        let Some(idle) = idle.max_by_key(|session| (session.is_new(), session.idle())).map(Arc::clone) else {
            return false;
        };
        self.open.remove(&idle.id);
        idle.end();
        true
    }
}

/// Who a request is from.
pub(super) type Owner = Option<Principal>;

/// Who a request is from.
pub(super) fn owner_of(engine: &Engine, parts: &Parts) -> Result<Owner, HttpRefusal> {
    if engine.options.principal.0.is_none() {
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
pub(super) fn is_owner(owner: &Owner, caller: &Owner) -> bool {
    let is_owner = owner == caller;
    if !is_owner {
        tracing::warn!("refused a request: the session that it names belongs to another caller");
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

    /// Takes a message.
    pub(super) async fn post(&self, parts: Parts, body: &Bytes, envelope: Envelope<'_>) -> Response<ResponseBody> {
        let id = envelope.id;
        let owner = match owner_of(&self.engine, &parts) {
            Ok(owner) => owner,
            // As all replies of a session: some clients do not look into the body of an error status.
            Err(HttpRefusal { error, .. }) => {
                return json(error_reply(id, &error).with_status(StatusCode::OK));
            }
        };
        let begins = envelope.method.as_deref() == Some("initialize") && id.is_some();
        if !self.engine.options.http.session_memory {
            let served = self.serve_alone(parts, body, envelope, begins).await;
            return served.unwrap_or_else(|refusal| refusal.response(id));
        }
        let found = if begins && !parts.headers.contains_key(SESSION) {
            self.begin(body, envelope, owner)
        } else {
            match self.find(&parts.headers, &owner, begins) {
                Ok(session) => return self.receive(&session, parts, body, envelope).await,
                Err(refused) => Err(refused),
            }
        };
        found.unwrap_or_else(|refusal| refusal.response(id))
    }

    /// Opens a stream, or ends the session.
    pub(super) fn get_or_delete(&self, parts: &Parts) -> Response<ResponseBody> {
        let session = match self.of_request(parts) {
            Ok(session) => session,
            Err(refusal) => return refusal.response(None),
        };
        if parts.method == Method::DELETE {
            self.sessions().open.remove(&session.id);
            session.end();
            // The Python SDK takes any other success for a failure, and warns of it.
            return status(StatusCode::NO_CONTENT);
        }
        if !accepts_events(&parts.headers).unwrap_or(false) {
            return HttpRefusal::new(StatusCode::NOT_ACCEPTABLE, "Accept must name text/event-stream").response(None);
        }
        let last = parts.headers.get("last-event-id").and_then(|id| id.to_str().ok());
        let (stream, after) = match last.map(parse_event_id) {
            None => (Some(Arc::clone(&session.own)), None),
            Some(id) => (id.and_then(|(stream, _)| session.stream(stream)), id.map(|(_, number)| number)),
        };
        event_stream(match stream {
            Some(stream) => ResponseBody::events(stream.connect(after, &session)),
            // An error would make the client try again with the same id; a stream that ends does not.
            None => ResponseBody::empty(),
        })
    }

    /// The session of a request.
    pub(super) fn of_request(&self, parts: &Parts) -> Result<Arc<HttpSession>, HttpRefusal> {
        let owner = owner_of(&self.engine, parts)?;
        self.find(&parts.headers, &owner, false)
    }

    /// The session that the headers name.
    fn find(&self, headers: &HeaderMap, owner: &Owner, begins: bool) -> Result<Arc<HttpSession>, HttpRefusal> {
        let refuse = |status, message: &'static str| Err(HttpRefusal::new(status, message));
        let mut named = headers.get_all(SESSION).iter();
        let (first, second) = (named.next(), named.next());
        let session = {
            let sessions = self.sessions();
            if sessions.closed {
                return refuse(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
            }
            let Some(first) = first else {
                return refuse(
                    StatusCode::BAD_REQUEST,
                    "the `Mcp-Session-Id` header is missing: a session begins with `initialize`; a request without a session \
                     names the version 2026-07-28, in the header `MCP-Protocol-Version` and in `params._meta`",
                );
            };
            let id = first.to_str().ok().filter(|_| second.is_none());
            id.and_then(|id| sessions.open.get(id)).filter(|session| is_owner(&session.owner, owner)).cloned()
        };
        let Some(session) = session else {
            return refuse(StatusCode::NOT_FOUND, "there is no such session: begin another with `initialize`");
        };
        if !begins {
            check_version(headers)?;
        }
        session.touch();
        Ok(session)
    }

    /// Answers `initialize`.
    fn begin(&self, body: &Bytes, envelope: Envelope<'_>, owner: Owner) -> Result<Response<ResponseBody>, HttpRefusal> {
        let refuse = |message: &'static str| Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message));
        let id = new_session_id()?;
        let session = Arc::new(Session::new(&self.engine, Some(id.clone())));
        let Dispatched::Reply(reply) = session.receive(body, envelope, Http::default()) else {
            unreachable!("`initialize` has a reply")
        };
        if session.version().is_none() {
            return Ok(json(reply.with_status(StatusCode::BAD_REQUEST)));
        }
        let mut response = json(reply);
        let mut sessions = self.sessions();
        if sessions.closed {
            return refuse("the server is shutting down");
        }
        let share = &self.engine.shares.sessions;
        let mut slot = share.take(owner.as_ref());
        if slot.is_err() && sessions.end_idle(|session| session.owner == owner) {
            slot = share.take(owner.as_ref());
        }
        let slot = slot?;
        // Nobody can keep others out with sessions that nobody uses.
        if sessions.open.len() >= self.engine.options.http.max_sessions && !sessions.end_idle(|_| true) {
            return refuse("too many sessions, try again later");
        }
        response.headers_mut().insert(SESSION, HeaderValue::try_from(&id).expect("digits are a header's value"));
        let session = Arc::new(HttpSession::new(id.clone(), session, owner, slot));
        let attend = Arc::clone(&session).attend(self.engine.options.http.session_timeout, Arc::clone(&self.sessions));
        tokio::spawn(attend);
        sessions.open.insert(id, session);
        Ok(response)
    }

    /// Serves a message on its own, as if its session had just begun.
    async fn serve_alone(
        &self,
        parts: Parts,
        body: &Bytes,
        envelope: Envelope<'_>,
        begins: bool,
    ) -> Result<Response<ResponseBody>, HttpRefusal> {
        let version = if begins { None } else { Some(check_version(&parts.headers)?) };
        let session = Arc::new(Session::for_one_request(&self.engine, version));
        Ok(match session.receive(body, envelope, Http::new(parts.headers, parts.extensions)) {
            Dispatched::Stream(call) => run(call, Poll::Pending, true, self.engine.options.http.stream_after).await,
            Dispatched::Reply(reply) => json(reply),
            Dispatched::Nothing => status(StatusCode::ACCEPTED),
        })
    }

    /// Takes a message of a session.
    pub(super) async fn receive(
        &self,
        session: &Arc<HttpSession>,
        mut parts: Parts,
        body: &Bytes,
        envelope: Envelope<'_>,
    ) -> Response<ResponseBody> {
        let Some(id) = envelope.id.filter(|_| envelope.method.is_some()) else {
            if let Some(cancelled) = cancelled_request(&envelope) {
                session.cancel(&cancelled);
            }
            session.session.receive(body, envelope, Http::default());
            return status(StatusCode::ACCEPTED);
        };
        let refuse = |error: &RpcError| json(error_reply(Some(id), error).with_status(StatusCode::OK));
        let most = self.engine.options.http.max_calls_per_session;
        if let Err(error) = admit_request(&session.state().requests, id, most) {
            return refuse(&error);
        }
        let resumes = session.session.version() == Some(LEGACY[0]);
        let (sender, disconnects) = mpsc::channel(1);
        parts.extensions.insert(ReplyStream(resumes.then_some(sender)));
        let http = Http::new(parts.headers, parts.extensions);
        let mut call = match session.session.receive(body, envelope, http) {
            Dispatched::Stream(call) => call,
            Dispatched::Reply(reply) => return json(reply),
            Dispatched::Nothing => return status(StatusCode::ACCEPTED),
        };
        let first = match poll_fn(|cx| Poll::Ready(call.poll_frame(cx))).await {
            Poll::Ready(Frame::Last(reply)) if reply.scopes.is_empty() => {
                return json(reply.with_status(StatusCode::OK));
            }
            Poll::Ready(Frame::Last(reply)) => return json(reply),
            Poll::Ready(Frame::Notification(message)) => Some((false, message)),
            Poll::Ready(Frame::Request(message)) => Some((true, message)),
            Poll::Pending => None,
        };
        let stream = Arc::new(SessionStream::new(session.next_stream()));
        let events = stream.connect(None, session);
        if resumes {
            stream.send_retry(RETRY);
        }
        if let Some((is_kept, message)) = first {
            stream.push(is_kept, &message);
        }
        match session.run(id, most, stream, call, disconnects) {
            Ok(()) => event_stream(ResponseBody::events(events)),
            Err(error) => refuse(&error),
        }
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

#[cfg(test)]
impl HttpSessions {
    /// How many sessions there are.
    pub(in crate::transport) fn count(&self) -> usize {
        self.sessions().open.len()
    }

    /// How many requests they serve.
    pub(in crate::transport) fn requests(&self) -> usize {
        self.sessions().open.values().map(|session| session.state().requests.len()).sum()
    }
}

/// An id that nobody can guess.
pub(super) fn new_session_id() -> Result<String, HttpRefusal> {
    random_id().map_err(|error| {
        tracing::error!(%error, "cannot generate a session id: the system has no randomness");
        let error = RpcError::new(RpcError::INTERNAL, "the session failed");
        HttpRefusal { status: StatusCode::INTERNAL_SERVER_ERROR, error }
    })
}

/// The version that the header names; clients that do not know the header are of 2025-03-26 or earlier.
fn check_version(headers: &HeaderMap) -> Result<&'static str, HttpRefusal> {
    let mut versions = headers.get_all(VERSION).iter();
    let (first, second) = (versions.next(), versions.next());
    let error = match first {
        _ if second.is_some() => RpcError::invalid_request("there is more than one `MCP-Protocol-Version` header"),
        None => return Ok("2025-03-26"),
        Some(named) => match LEGACY.into_iter().find(|version| named == version) {
            Some(version) => return Ok(version),
            None => RpcError::unsupported_version(&String::from_utf8_lossy(named.as_bytes()), true),
        },
    };
    Err(HttpRefusal { status: StatusCode::BAD_REQUEST, error })
}

/// A session, as HTTP carries it.
pub(super) struct HttpSession {
    id: String,
    pub(super) session: Arc<Session>,
    owner: Owner,
    /// The stream for messages that belong to no request.
    own: Arc<SessionStream>,
    state: Mutex<HttpSessionState>,
    ended: CancellationToken,
}

struct HttpSessionState {
    /// The requests whose calls run.
    requests: HashMap<RequestKey, OpenRequest>,
    /// The last streams that have their reply: it may have been lost on its way to the client.
    finished: VecDeque<Arc<SessionStream>>,
    last_stream: u64,
    /// When the client was last there.
    last_used: Instant,
    /// How many streams it reads.
    reading: usize,
    /// Whether nothing has followed `initialize`.
    is_new: bool,
    /// Its place among the sessions of its owner, until it ends.
    slot: CallerSlot,
}

/// A request whose call is running.
struct OpenRequest {
    stream: Arc<SessionStream>,
    task: AbortHandle,
}

/// How many streams a session keeps after their reply, and how many bytes; the newest is always kept.
const MOST_FINISHED: usize = 16;
const MOST_FINISHED_BYTES: usize = 256 * 1024;

/// How long a session lasts in which nothing follows `initialize`.
const NEW_SESSION: Duration = Duration::from_secs(60);

impl HttpSession {
    fn new(id: String, session: Arc<Session>, owner: Owner, slot: CallerSlot) -> Self {
        let state = HttpSessionState {
            requests: HashMap::new(),
            finished: VecDeque::new(),
            last_stream: 0,
            last_used: Instant::now(),
            reading: 0,
            is_new: true,
            slot,
        };
        Self { id, session, owner, own: Arc::default(), state: Mutex::new(state), ended: CancellationToken::new() }
    }

    fn state(&self) -> MutexGuard<'_, HttpSessionState> {
        lock(&self.state)
    }

    fn touch(&self) {
        let mut state = self.state();
        (state.last_used, state.is_new) = (Instant::now(), false);
    }

    fn is_new(&self) -> bool {
        self.state().is_new
    }

    pub(super) fn begin_reading(&self) {
        self.state().reading += 1;
    }

    pub(super) fn end_reading(&self) {
        let mut state = self.state();
        state.reading -= 1;
        state.last_used = Instant::now();
    }

    /// How long the session still lasts if its client stays away.
    fn lasts(&self, longest: Duration) -> Duration {
        let longest = if self.is_new() { longest.min(NEW_SESSION) } else { longest };
        longest.saturating_sub(self.idle())
    }

    /// How long the client has neither sent nor read anything.
    fn idle(&self) -> Duration {
        let state = self.state();
        if state.reading > 0 { Duration::ZERO } else { state.last_used.elapsed() }
    }

    fn stream(&self, number: u64) -> Option<Arc<SessionStream>> {
        if number == 0 {
            return Some(Arc::clone(&self.own));
        }
        let state = self.state();
        let running = state.requests.values().map(|request| &request.stream);
        running.chain(&state.finished).find(|stream| stream.number == number).cloned()
    }

    fn next_stream(&self) -> u64 {
        let mut state = self.state();
        state.last_stream += 1;
        state.last_stream
    }

    /// Runs a call in a task of its own, because it outlives the connection.
    ///
    /// # Errors
    ///
    /// If another request has taken the id, or the last place, since this one was admitted.
    fn run(
        self: &Arc<Self>,
        id: &str,
        most: usize,
        stream: Arc<SessionStream>,
        call: Stream,
        disconnects: Disconnects,
    ) -> Result<(), RpcError> {
        // Locked until the request is there, so that the task can remove it.
        let mut state = self.state();
        let key = match admit_request(&state.requests, id, most) {
            Ok(key) => key,
            Err(error) => {
                // Author's code runs when the call is dropped, so not under the lock.
                drop(state);
                drop(call);
                return Err(error);
            }
        };
        let run = StreamSender(Arc::clone(&stream)).run(Arc::clone(self), Arc::clone(&key), call, disconnects);
        let task = tokio::spawn(run.in_current_span()).abort_handle();
        if self.ended.is_cancelled() {
            task.abort();
        } else {
            state.requests.insert(key, OpenRequest { stream, task });
        }
        Ok(())
    }

    /// The call of that request is over. Its messages are kept for a while.
    pub(super) fn close_request(&self, key: &RequestKey) {
        let mut state = self.state();
        let Some(request) = end_request(&mut state.requests, key) else { return };
        let finished = &mut state.finished;
        let mut bytes: usize = finished.iter().map(|stream| stream.size()).sum();
        while finished.len() >= MOST_FINISHED || bytes > MOST_FINISHED_BYTES {
            bytes -= finished.pop_front().map_or(bytes, |stream| stream.size());
        }
        finished.push_back(request.stream);
    }

    /// Cancels a request.
    fn cancel(&self, request: &str) {
        self.state().requests.remove(request).inspect(|open| open.task.abort());
    }

    /// Ends the session, its calls and its streams.
    fn end(&self) {
        self.ended.cancel();
        self.session.hang_up();
        let mut state = self.state();
        state.slot = CallerSlot::default();
        state.requests.drain().for_each(|(_, open)| open.task.abort());
    }

    /// Sends the messages that belong to no request, until the session ends: by itself, when its client has been away
    /// for too long.
    async fn attend(self: Arc<Self>, longest: Duration, sessions: Arc<Mutex<SessionMap>>) {
        let own = StreamSender(Arc::clone(&self.own));
        loop {
            let message = async {
                own.wanted().await;
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
