//! Sessions over Streamable HTTP: who has one, and for how long.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
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
use tracing::Instrument;

use super::{
    ResponseBody,
    request::{HttpRefusal, accepts_events},
    service::{event_stream, json, status},
    session_streams::{OwnEvents, OwnStream, ReplyStream, RequestStream, parse_event_id},
};
use crate::{
    call::{Era, RequestInfo},
    protocol::{
        Dispatched, Envelope, Frame, LEGACY, RpcError, RpcReply, Session, cancelled_request, error_reply, is_legacy,
        random_id, request_key,
    },
    server::{Calls, Engine},
};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// All sessions over HTTP.
pub(in crate::transport) struct HttpSessions {
    engine: Arc<Engine>,
    sessions: Arc<Mutex<SessionMap>>,
    /// The replies that are on their way.
    replies: Calls,
}

#[derive(Default)]
struct SessionMap {
    open: HashMap<String, Arc<HttpSession>>,
    /// Whether a task ends those that are idle.
    swept: bool,
    /// Whether the server is shutting down.
    closed: bool,
}

/// Who a request is from; `None` where the server does not know its callers.
type Owner = Option<Option<String>>;

impl HttpSessions {
    /// None yet.
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, sessions: Arc::default(), replies: Calls::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, SessionMap> {
        // Every statement leaves the state valid.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a message.
    pub(super) async fn post(&self, parts: Parts, body: &Bytes, envelope: Envelope<'_>) -> Response<ResponseBody> {
        let id = envelope.id;
        let owner = match self.owner(&parts) {
            Ok(owner) => owner,
            // As all replies of a session: some clients do not look into the body of an error status.
            Err(error) => return json(RpcReply { status: StatusCode::OK, ..error_reply(id, &error) }),
        };
        let begins = envelope.method.as_deref() == Some("initialize") && id.is_some();
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
        let session = self
            .owner(parts)
            .map_err(|error| HttpRefusal { status: StatusCode::INTERNAL_SERVER_ERROR, error })
            .and_then(|owner| self.find(&parts.headers, &owner, false));
        let session = match session {
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
        match last.map(parse_event_id) {
            None => event_stream(ResponseBody::events(session.own_events(None))),
            Some(Some((0, number))) => event_stream(ResponseBody::events(session.own_events(Some(number)))),
            Some(id) => event_stream(match id.and_then(|(stream, number)| Some((session.stream(stream)?, number))) {
                Some((stream, number)) => {
                    ResponseBody::events(stream.connect(number, session.attend(), self.replies.begin()))
                }
                // An error would make the client try again with the same id; a stream that ends does not.
                None => ResponseBody::empty(),
            }),
        }
    }

    /// Who the request is from.
    fn owner(&self, parts: &Parts) -> Result<Owner, RpcError> {
        if self.engine.options.principal.0.is_none() {
            return Ok(None);
        }
        let http = Some(Box::new((parts.headers.clone(), parts.extensions.clone())));
        let owner = self.engine.caller(&RequestInfo { http, era: Era::Session, ..RequestInfo::default() });
        owner.map(Some).map_err(RpcError::from)
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
                    "the `Mcp-Session-Id` header is missing: a session begins with `initialize`",
                );
            };
            let id = first.to_str().ok().filter(|_| second.is_none());
            // The session of somebody else looks like one that never was.
            id.and_then(|id| sessions.open.get(id)).filter(|session| session.owner == *owner).cloned()
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
        let session = Arc::new(Session::new(&self.engine));
        let Dispatched::Reply(reply) = session.receive(body, envelope, None) else {
            unreachable!("`initialize` has a reply")
        };
        let mut response = json(reply);
        if session.version().is_none() {
            return Ok(response);
        }
        let id = random_id().map_err(|error| {
            tracing::error!(%error, "there is no randomness for the id of a session");
            let error = RpcError::new(RpcError::INTERNAL, "the session failed");
            HttpRefusal { status: StatusCode::INTERNAL_SERVER_ERROR, error }
        })?;
        let mut sessions = self.sessions();
        if sessions.closed {
            return refuse("the server is shutting down");
        }
        if sessions.open.len() >= self.engine.options.http.max_sessions {
            return refuse("too many sessions, try again later");
        }
        response.headers_mut().insert(SESSION, HeaderValue::try_from(&id).expect("digits are a header's value"));
        let session = Arc::new(HttpSession::new(id.clone(), session, owner));
        if !std::mem::replace(&mut sessions.swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.sessions), self.engine.options.http.session_timeout));
        }
        sessions.open.insert(id, session);
        Ok(response)
    }

    /// Takes a message of a session.
    async fn receive(
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
            session.session.receive(body, envelope, None);
            return status(StatusCode::ACCEPTED);
        };
        let resumes = session.session.version() == Some(LEGACY[0]);
        let (sender, disconnects) = mpsc::channel(1);
        parts.extensions.insert(if resumes { ReplyStream::new(sender) } else { ReplyStream::default() });
        let mut call = match session.session.receive(body, envelope, Some(Box::new((parts.headers, parts.extensions))))
        {
            Dispatched::Stream(call) => call,
            Dispatched::Reply(reply) => return json(reply),
            Dispatched::Nothing => return status(StatusCode::ACCEPTED),
        };
        let first = match poll_fn(|cx| Poll::Ready(call.poll_frame(cx))).await {
            Poll::Ready(Frame::Last(reply)) => return json(RpcReply { status: StatusCode::OK, ..reply }),
            Poll::Ready(first) => Some(first),
            Poll::Pending => None,
        };
        let mut streams = session.streams();
        streams.last += 1;
        let number = streams.last;
        let stream = Arc::new(RequestStream::new(number));
        let events = stream.connect(0, session.attend(), self.replies.begin());
        let run = Arc::clone(&stream).run(Arc::clone(session), call, first, disconnects);
        let task = tokio::spawn(run.in_current_span()).abort_handle();
        streams.open.insert(number, OpenRequest { id: request_key(id), stream, task });
        event_stream(ResponseBody::events(if resumes { events.resumable(number) } else { events }))
    }

    /// Waits until the replies that are on their way have left.
    pub(in crate::transport) async fn replied(&self) {
        self.replies.idle().await;
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

#[cfg(test)]
impl HttpSessions {
    /// How many sessions there are.
    pub(in crate::transport) fn count(&self) -> usize {
        self.sessions().open.len()
    }

    /// How many requests they serve.
    pub(in crate::transport) fn requests(&self) -> usize {
        self.sessions().open.values().map(|session| session.streams().open.len()).sum()
    }
}

/// The version header, if there is one.
fn check_version(headers: &HeaderMap) -> Result<(), HttpRefusal> {
    let mut versions = headers.get_all(VERSION).iter();
    let (first, second) = (versions.next(), versions.next());
    let error = match first {
        _ if second.is_some() => RpcError::invalid_request("there is more than one `MCP-Protocol-Version` header"),
        Some(version) if !version.to_str().is_ok_and(is_legacy) => {
            RpcError::unsupported_version(&String::from_utf8_lossy(version.as_bytes()), true)
        }
        _ => return Ok(()),
    };
    Err(HttpRefusal { status: StatusCode::BAD_REQUEST, error })
}

/// A session, as HTTP carries it.
pub(super) struct HttpSession {
    id: String,
    pub(super) session: Arc<Session>,
    owner: Owner,
    own: Mutex<OwnStream>,
    streams: Mutex<RequestStreams>,
    activity: Mutex<Activity>,
    ended: AtomicBool,
}

#[derive(Default)]
struct RequestStreams {
    open: HashMap<u64, OpenRequest>,
    /// The last streams that have their reply, by number: it may have been lost on its way to the client.
    finished: VecDeque<(u64, Arc<RequestStream>)>,
    /// The stream with the number 0 is the session's own.
    last: u64,
}

/// A request whose call is running.
struct OpenRequest {
    id: String,
    stream: Arc<RequestStream>,
    task: AbortHandle,
}

/// How many streams a session keeps after their reply, and how many bytes; the newest is always kept.
const MOST_FINISHED: usize = 16;
const MOST_FINISHED_BYTES: usize = 256 * 1024;

/// When the client was last there.
struct Activity {
    last: Instant,
    /// The streams that it reads.
    reading: usize,
}

impl Activity {
    fn is_idle(&self, longest: Duration) -> bool {
        self.reading == 0 && self.last.elapsed() >= longest
    }
}

impl HttpSession {
    fn new(id: String, session: Arc<Session>, owner: Owner) -> Self {
        Self {
            id,
            session,
            owner,
            own: Mutex::default(),
            streams: Mutex::default(),
            activity: Mutex::new(Activity { last: Instant::now(), reading: 0 }),
            ended: AtomicBool::new(false),
        }
    }

    pub(super) fn own(&self) -> MutexGuard<'_, OwnStream> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self) -> MutexGuard<'_, RequestStreams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        self.activity().last = Instant::now();
    }

    /// Keeps the session from being idle until it is dropped.
    fn attend(self: &Arc<Self>) -> Attended {
        self.activity().reading += 1;
        Attended { session: Arc::clone(self) }
    }

    fn own_events(self: &Arc<Self>, after: Option<u64>) -> OwnEvents {
        OwnEvents { connection: self.own().connect(after), attended: self.attend() }
    }

    fn stream(&self, number: u64) -> Option<Arc<RequestStream>> {
        let streams = self.streams();
        let finished = || streams.finished.iter().find(|(finished, _)| *finished == number).map(|(_, stream)| stream);
        streams.open.get(&number).map(|open| &open.stream).or_else(finished).cloned()
    }

    /// The call of that stream is over. Its messages are kept for a while.
    pub(super) fn finish(&self, number: u64) {
        let mut streams = self.streams();
        let Some(open) = streams.open.remove(&number) else { return };
        let finished = &mut streams.finished;
        let mut bytes: usize = finished.iter().map(|(_, stream)| stream.size()).sum();
        while finished.len() >= MOST_FINISHED || bytes > MOST_FINISHED_BYTES {
            bytes -= finished.pop_front().map_or(bytes, |(_, stream)| stream.size());
        }
        finished.push_back((number, open.stream));
    }

    /// Cancels a request.
    fn cancel(&self, request: &str) {
        self.streams().open.retain(|_, open| {
            if open.id == request {
                open.task.abort();
            }
            open.id != request
        });
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Ends the session, its calls and its streams.
    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.session.hang_up();
        let streams = std::mem::take(&mut *self.streams());
        streams.open.values().for_each(|open| open.task.abort());
        self.own().wake_all();
    }
}

/// A stream that somebody reads: its session is not idle.
pub(super) struct Attended {
    pub(super) session: Arc<HttpSession>,
}

impl Drop for Attended {
    fn drop(&mut self) {
        let mut activity = self.session.activity();
        activity.reading -= 1;
        activity.last = Instant::now();
    }
}

/// Ends sessions in which nothing has happened for too long, as long as there are any.
async fn sweep(sessions: Weak<Mutex<SessionMap>>, idle: Duration) {
    loop {
        sleep((idle / 10).max(Duration::from_millis(1))).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let ended: Vec<_> = {
            let mut sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
            let ended = sessions.open.extract_if(|_, session| session.activity().is_idle(idle)).collect();
            sessions.swept = !sessions.open.is_empty();
            ended
        };
        ended.iter().for_each(|(_, session)| session.end());
        if !sessions.lock().unwrap_or_else(PoisonError::into_inner).swept {
            return;
        }
    }
}
