//! HTTP+SSE of 2024-11-05, which Streamable HTTP has replaced: the client reads all messages from one stream of events, and
//! sends each of its own in a POST.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex},
};

use ::http::{Method, Response, StatusCode, Uri, request::Parts};
use bytes::Bytes;
use futures_util::stream::poll_fn;
use http_body::Body;
use tokio::sync::mpsc;
use tracing::Instrument;

use super::{
    ResponseBody,
    body::event,
    request::{HttpRefusal, accepts_events, check_content_type, read_body},
    service::{Endpoint, event_stream, status},
    sessions::{Owner, is_owner, new_session_id, owner_of},
};
use crate::{
    call::AfterReply,
    error::{BoxError, lock},
    protocol::{Http, ReplyBody},
    request::head_size,
    transport::connection::{self, Received, Wire},
};

/// The streams that are open, by the id that their clients send in the query of each POST.
#[derive(Default)]
pub(super) struct SseStreams(Arc<Mutex<HashMap<String, SseStream>>>);

struct SseStream {
    owner: Owner,
    /// What was posted to it.
    posted: mpsc::Sender<Received>,
}

/// The name of the id in the query.
const SESSION: &str = "session_id";

/// How many events wait for the client to read them.
const MOST_WAITING: usize = 16;

impl Endpoint {
    /// Opens a stream, or takes a message for one.
    pub(super) async fn sse<B>(&self, parts: Parts, body: B) -> Result<Response<ResponseBody>, HttpRefusal>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        match parts.method {
            Method::GET => self.open_sse(parts),
            Method::POST => self.post_sse(parts, body).await,
            _ => Err(HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "GET opens a stream, POST sends a message")),
        }
    }

    fn open_sse(&self, parts: Parts) -> Result<Response<ResponseBody>, HttpRefusal> {
        if !accepts_events(&parts.headers)? {
            return Err(HttpRefusal::not_acceptable());
        }
        let owner = owner_of(&self.engine, &parts)?;
        let open = self.open_connection(&owner)?;
        let id = new_session_id()?;
        // A message that waits is in memory: it waits with its POST instead, which is limited.
        let (posted, received) = mpsc::channel(1);
        let (events, mut waiting) = mpsc::channel(MOST_WAITING);
        let endpoint = format!("event: endpoint\ndata: {}\n\n", endpoint(&parts.uri, &id));
        events.try_send(endpoint.into()).expect("the channel is empty");
        lock(&self.sse.0).insert(id.clone(), SseStream { owner, posted });
        let (engine, streams) = (Arc::clone(&self.engine), Arc::clone(&self.sse.0));
        let serving = async move {
            let mut wire = EventWire { received, out: VecDeque::new(), events };
            let calls = engine.http().max_calls_per_session;
            if let Err(error) = connection::serve(&engine, &mut wire, calls, None).await {
                tracing::debug!(%error, "a stream of events failed");
            }
            lock(&streams).remove(&id);
            drop(open);
        };
        tokio::spawn(serving.in_current_span());
        // Dropping the body ends the connection.
        Ok(event_stream(ResponseBody::events(poll_fn(move |cx| waiting.poll_recv(cx)))))
    }

    async fn post_sse<B>(&self, parts: Parts, body: B) -> Result<Response<ResponseBody>, HttpRefusal>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        check_content_type(&parts.headers)?;
        let (http, limits) = (self.engine.http(), self.engine.limits());
        let owner = owner_of(&self.engine, &parts)?;
        let is_ours = |stream: &&SseStream| is_owner(&self.engine, &stream.owner, &owner);
        let find = |id| lock(&self.sse.0).get(id).filter(is_ours).map(|stream| stream.posted.clone());
        let no_stream = || {
            let hint = "there is no such stream: open another with GET; for Streamable HTTP, POST to `/mcp` instead";
            HttpRefusal::new(StatusCode::NOT_FOUND, hint)
        };
        let posted = session_id(&parts.uri).and_then(find).ok_or_else(no_stream)?;
        let bytes = self.engine.bytes();
        let hold = || bytes.hold(owner.as_ref());
        let body = read_body(body, limits.message_size, http.body_timeout, hold).await?;
        let held = bytes.take(owner.as_ref(), body.len() + head_size(&parts.headers))?;
        let message = Received::Whole(body, Http::new(parts.headers, parts.extensions).sent_by(owner), held);
        match posted.send_timeout(message, http.body_timeout).await {
            Ok(()) => Ok(status(StatusCode::ACCEPTED)),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(no_stream()),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                let reason = "the client does not read its stream, so no more messages are taken";
                Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, reason))
            }
        }
    }
}

/// Where the client posts to: relative to where it opened the stream, so that it holds behind any proxy.
fn endpoint(uri: &Uri, id: &str) -> String {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    // A colon in the first segment would be read as the end of a scheme.
    let last = if last.contains(':') { "" } else { last };
    format!("{last}?{SESSION}={id}")
}

/// The id in the query.
fn session_id(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix(SESSION)?.strip_prefix('='))
}

/// The messages of a stream of events, and those that were posted to it.
struct EventWire {
    received: mpsc::Receiver<Received>,
    /// What waits to be written.
    out: VecDeque<Bytes>,
    events: mpsc::Sender<Bytes>,
}

impl Wire for EventWire {
    async fn next(&mut self) -> io::Result<Received> {
        tokio::select! {
            Some(received) = self.received.recv() => Ok(received),
            () = self.events.closed() => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn push(&mut self, message: ReplyBody, after: Option<AfterReply>) {
        self.out.push_back(AfterReply::hold(after, event(message.pieces())));
    }

    async fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            let place = self.events.reserve().await.map_err(|_| io::ErrorKind::BrokenPipe)?;
            let Some(event) = self.out.pop_front() else { break };
            place.send(event);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::{BackgroundTasks, Call, FromCall};

    #[test]
    fn the_endpoint_is_where_the_stream_was_opened() {
        for (opened, expected) in [
            ("/sse", "sse?session_id=7"),
            ("/deep/events?x=1", "events?session_id=7"),
            ("http://localhost/sse", "sse?session_id=7"),
            // Resolved against these, a query alone leaves the path as it is.
            ("/", "?session_id=7"),
            ("/sse/", "?session_id=7"),
            ("/javascript:alert(1)", "?session_id=7"),
        ] {
            let endpoint = endpoint(&Uri::from_static(opened), "7");
            assert_eq!(endpoint, expected, "{opened}");
        }
    }

    #[test]
    fn the_id_is_found_in_the_query() {
        for (posted, expected) in [
            ("/sse?session_id=7", Some("7")),
            ("/sse?a=1&session_id=7&b=2", Some("7")),
            ("/sse?session_id=", Some("")),
            ("/sse?session_idx=7", None),
            ("/sse?x_session_id=7", None),
            ("/sse", None),
        ] {
            assert_eq!(session_id(&Uri::from_static(posted)), expected, "{posted}");
        }
    }

    #[tokio::test]
    async fn l6_a_background_task_starts_when_the_event_with_the_reply_has_been_written() {
        let call = Call::detached();
        let background = BackgroundTasks::from_call(&call, "background").await.expect("any call has it");
        let (started, mut has_started) = mpsc::channel(1);
        background.add(async move { started.send(()).await }).expect("there is room");
        let (_posted, received) = mpsc::channel(1);
        let (events, mut stream) = mpsc::channel(1);
        let mut wire = EventWire { received, out: VecDeque::new(), events };
        wire.push(ReplyBody::Whole("{}".into()), call.after_reply("tool"));
        wire.flush().await.expect("there is room");
        let event = stream.recv().await.expect("an event");
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(has_started.recv().now_or_never(), None, "it is not written yet");
        drop(event);
        assert_eq!(has_started.recv().await, Some(()));
    }
}
