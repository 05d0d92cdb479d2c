//! WebSocket: one JSON-RPC message for each text frame, in both directions.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use ::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header, request::Parts};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Join, ReadBuf, ReadHalf, WriteHalf, join, split},
    time::{Instant, timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        error::ProtocolError,
        protocol::{
            CloseFrame, Role, WebSocketConfig,
            frame::{
                Frame,
                coding::{CloseCode, Data, OpCode},
            },
        },
    },
};
use tracing::Instrument;

use super::{
    ResponseBody,
    limited_stream::LimitedStream,
    request::HttpRefusal,
    service::{Endpoint, status},
    sessions::owner_of,
};
use crate::{
    auth::{BudgetFull, Held},
    call::AfterReply,
    protocol::{Http, ReplyBody},
    request::head_size,
    server::Engine,
    transport::connection::{self, Received, Wire},
};

/// What a client may offer in `Sec-WebSocket-Protocol`.
const SUBPROTOCOL: &str = "mcp";

/// After how long without a frame of the client the server sends a ping. A client that stays silent for as long again is
/// gone.
const SILENCE: Duration = Duration::from_secs(30);

/// How long the server reads on after it has closed the connection, so that the client can read why.
const CLOSING: Duration = Duration::from_secs(5);

impl Endpoint {
    /// Opens a WebSocket.
    pub(super) fn open_websocket(&self, mut parts: Parts) -> Result<Response<ResponseBody>, HttpRefusal> {
        let accept = accept_key(&parts)?;
        let upgrade = parts.extensions.remove::<OnUpgrade>().ok_or_else(|| {
            HttpRefusal::new(StatusCode::UPGRADE_REQUIRED, "this connection cannot become a WebSocket: use HTTP/1.1")
        })?;
        let owner = owner_of(&self.engine, &parts)?;
        let open = self.open_connection(&owner)?;
        let mut response = status(StatusCode::SWITCHING_PROTOCOLS);
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        if has_token(&parts.headers, &header::SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
        }
        let (engine, bytes) = (Arc::clone(&self.engine), self.engine.bytes());
        let (held, head) = (bytes.hold(owner.as_ref()), bytes.take(owner.as_ref(), head_size(&parts.headers))?);
        let http = Http::new(parts.headers, parts.extensions);
        let serving = async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a client left before its WebSocket was open"),
            };
            let stream = TokioIo::new(upgraded);
            let timeout = engine.http().header_timeout;
            let stream = LimitedStream::new(stream, timeout, Arc::default(), Held::default());
            serve_websocket(&engine, stream, http, held).await;
            drop((open, head));
        };
        tokio::spawn(serving.in_current_span());
        Ok(response)
    }
}

/// Serves one client over a stream that carries WebSocket frames.
async fn serve_websocket<S>(engine: &Arc<Engine>, stream: S, http: Http, held: Held)
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    let (stream, output) = split(stream);
    let limit = engine.limits().message_size;
    let input = CountedStream { stream, held, read: 0, most: limit + READ_BUFFER };
    let limit = Some(limit);
    let config = WebSocketConfig::default().read_buffer_size(READ_BUFFER).max_message_size(limit).max_frame_size(limit);
    let socket = WebSocketStream::from_raw_socket(join(input, output), Role::Server, Some(config)).await;
    let mut wire = FrameWire::new(socket, http);
    if let Err(error) = connection::serve(engine, &mut wire, engine.http().max_calls_per_session, None).await {
        tracing::debug!(%error, "a WebSocket failed");
    }
    wire.close().await;
}

/// How much is read at once. Each connection has a buffer of this size.
const READ_BUFFER: usize = 16 * 1024;

/// Checks that the request opens a WebSocket; the proof that the server understood it.
fn accept_key(parts: &Parts) -> Result<HeaderValue, HttpRefusal> {
    let headers = &parts.headers;
    let is_upgrade = parts.method == Method::GET
        && has_token(headers, &header::CONNECTION, "upgrade")
        && has_token(headers, &header::UPGRADE, "websocket");
    if !is_upgrade {
        return Err(HttpRefusal::new(StatusCode::UPGRADE_REQUIRED, "here is a WebSocket: open it with ws://"));
    }
    if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(HttpRefusal::new(StatusCode::UPGRADE_REQUIRED, "Sec-WebSocket-Version must be 13"));
    }
    let mut keys = headers.get_all(header::SEC_WEBSOCKET_KEY).iter();
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, "there must be one Sec-WebSocket-Key"));
    };
    // RFC 6455, section 1.3. The digest protects nothing.
    let proof = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key.as_bytes(), b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"].concat());
    Ok(HeaderValue::try_from(STANDARD.encode(proof)).expect("base64 is a header's value"))
}

/// Whether a header that is a list contains that word.
fn has_token(headers: &HeaderMap, name: &header::HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(token))
}

type CountedSocket<S> = WebSocketStream<Join<CountedStream<S>, WriteHalf<S>>>;

/// The messages of a WebSocket: one for each text frame.
struct FrameWire<S> {
    socket: CountedSocket<S>,
    /// The request that opened it: its headers are those of every message.
    http: Http,
    /// What waits to be written.
    out: VecDeque<Message>,
    /// What waits until that is written.
    after: Vec<AfterReply>,
    /// When the client has been silent for too long.
    silent_at: Instant,
    /// Whether the client owes a sign of life.
    is_pinged: bool,
    /// What the client reads when the connection closes; `None` if it has closed it, or is gone.
    close: Option<(CloseCode, &'static str)>,
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> FrameWire<S> {
    fn new(socket: CountedSocket<S>, http: Http) -> Self {
        Self {
            socket,
            http,
            out: VecDeque::new(),
            after: Vec::new(),
            silent_at: Instant::now() + SILENCE,
            is_pinged: false,
            close: Some((CloseCode::Away, "the server is shutting down")),
        }
    }

    /// Closes the connection, and reads on for a while: a client that is still sending would not see the reason if the
    /// connection were reset.
    async fn close(mut self) {
        let Some((code, reason)) = self.close else {
            // Sends the client's own close frame back to it.
            let _ = timeout(CLOSING, self.socket.flush()).await;
            return;
        };
        let closing = async {
            let _ = self.socket.close(Some(CloseFrame { code, reason: reason.into() })).await;
            let stream = self.socket.get_mut();
            let _ = stream.shutdown().await;
            let mut rest = vec![0; READ_BUFFER];
            while let Ok(1..) = stream.reader_mut().stream.read(&mut rest).await {}
        };
        let _ = timeout(CLOSING, closing).await;
    }
}

/// A stream that counts what it has read of a message that is not complete.
struct CountedStream<S> {
    stream: ReadHalf<S>,
    held: Held,
    /// With the headers of its fragments, of which there may be any number.
    read: usize,
    /// How much of that is held at most: the longest message.
    most: usize,
}

impl<S> CountedStream<S> {
    fn count(&mut self) -> Result<(), BudgetFull> {
        let now = self.read.min(self.most);
        self.held.shrink(self.held.amount().saturating_sub(now));
        self.held.grow(now - self.held.amount())
    }
}

impl<S: AsyncRead> AsyncRead for CountedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.read += buffer.filled().len() - before;
        Poll::Ready(self.count().map_err(|_| io::ErrorKind::QuotaExceeded.into()))
    }
}

/// The largest frame. The library keeps a copy of each frame until it is written, and moves what is left of it after each
/// write.
const FRAGMENT: usize = 256 * 1024;

/// The longest message that is copied.
const SHORT: usize = 4 * 1024;

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Wire for FrameWire<S> {
    async fn next(&mut self) -> io::Result<Received> {
        loop {
            let Ok(frame) = timeout_at(self.silent_at, self.socket.next()).await else {
                if std::mem::replace(&mut self.is_pinged, true) {
                    self.close = None;
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                self.silent_at += SILENCE;
                // If it fails, so does the next read.
                let _ = self.socket.send(Message::Ping(Bytes::new())).await;
                continue;
            };
            (self.silent_at, self.is_pinged) = (Instant::now() + SILENCE, false);
            self.close = match frame {
                Some(Ok(Message::Text(text))) => {
                    let input = self.socket.get_mut().reader_mut();
                    let (held, _) = (input.held.split(), std::mem::take(&mut input.read));
                    let text = Bytes::from(text);
                    // As on a pipe: a call keeps its message, and should not keep the buffer.
                    let text = if text.len() <= SHORT { Bytes::copy_from_slice(&text) } else { text };
                    return Ok(Received::Whole(text, self.http.clone(), held));
                }
                // Pings are answered by the library, and nothing of them is kept. Their frames have 6 bytes more, and may come
                // in the middle of a message.
                Some(Ok(Message::Ping(payload) | Message::Pong(payload))) => {
                    let input = self.socket.get_mut().reader_mut();
                    input.read = input.read.saturating_sub(payload.len() + 6);
                    continue;
                }
                Some(Ok(Message::Frame(_))) => continue,
                Some(Ok(Message::Binary(_))) => Some((CloseCode::Unsupported, "messages are text frames")),
                Some(Err(Error::Capacity(_))) => Some((CloseCode::Size, "the message is too long")),
                Some(Err(Error::Io(error))) if error.kind() == io::ErrorKind::QuotaExceeded => {
                    Some((CloseCode::Again, "too many messages are arriving at once, try again later"))
                }
                Some(Err(Error::Utf8(_))) => Some((CloseCode::Invalid, "the message is not UTF-8")),
                Some(Err(Error::Protocol(error))) if error != ProtocolError::ResetWithoutClosingHandshake => {
                    Some((CloseCode::Protocol, "this is not a WebSocket frame"))
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => None,
            };
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }

    fn push(&mut self, message: ReplyBody, after: Option<AfterReply>) {
        self.after.extend(after);
        let mut rest = message.whole();
        let mut kind = Data::Text;
        loop {
            let fragment = rest.split_to(rest.len().min(FRAGMENT));
            // Not as text, which would be checked: what the server writes is UTF-8.
            self.out.push_back(Message::Frame(Frame::message(fragment, OpCode::Data(kind), rest.is_empty())));
            if rest.is_empty() {
                return;
            }
            kind = Data::Continue;
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        let left = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        while !self.out.is_empty() {
            poll_fn(|cx| self.socket.poll_ready_unpin(cx)).await.map_err(left)?;
            let Some(message) = self.out.pop_front() else { break };
            self.socket.start_send_unpin(message).map_err(left)?;
        }
        self.socket.flush().await.map_err(left)?;
        self.after.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::{
        net::{TcpListener, TcpStream},
        sync::Notify,
    };
    use tokio_tungstenite::client_async;

    use super::*;
    use crate::{
        call::CallEnd,
        prelude::*,
        transport::{
            http::serve::serve,
            tests::waiting::{Seen, wait},
        },
    };

    /// Leaves a background task, and replies with more than the stream of the test takes.
    #[tool]
    async fn leave(background: BackgroundTasks, started: Dep<Notify>) -> Result<String, CallError> {
        background.add(async move { started.notify_one() })?;
        Ok("x".repeat(1000))
    }

    #[tokio::test]
    async fn l6_a_background_task_starts_when_the_last_byte_of_the_reply_is_in_the_socket() {
        let started = Arc::new(Notify::new());
        let server = Server::new("frames", "1.0.0").provide_arc(Arc::clone(&started)).tools(tools![leave]);
        let engine = server.build().expect("a good server").0;
        let (mut client, stream) = tokio::io::duplex(64);
        tokio::spawn(async move {
            serve_websocket(&engine, stream, Http::default(), Held::default()).await;
        });
        let meta = serde_json::json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {} });
        let call = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "leave", "_meta": meta } });
        let call = call.to_string();
        // A text frame whose mask changes nothing.
        let length = u16::try_from(call.len()).expect("short").to_be_bytes();
        let frame = [&[0x81, 0xFE], &length[..], &[0; 4], call.as_bytes()].concat();
        client.write_all(&frame).await.expect("the server reads");
        let mut xs = 0;
        while xs < 900 {
            let mut piece = [0; 16];
            let length = client.read(&mut piece).await.expect("a reply");
            xs += piece[..length].iter().filter(|byte| **byte == b'x').count();
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(started.notified().now_or_never().is_none(), "a part of the reply is not written yet");
        tokio::spawn(async move { tokio::io::copy(&mut client, &mut tokio::io::sink()).await });
        timeout(Duration::from_secs(30), started.notified()).await.expect("it starts");
    }

    #[tokio::test]
    async fn a_call_that_does_not_end_is_torn_down_before_the_server_has_stopped() {
        let seen = Arc::new(Seen::default());
        let server = Server::new("waiting", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![wait]);
        let server = server.http(crate::http::Config::new().websocket("/ws")).grace_period(Duration::from_millis(50));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = server.build().expect("a good server");
        let stopping = server.0.stopping().clone();
        let serving = tokio::spawn(serve(server, listener));
        let stream = TcpStream::connect(address).await.expect("the server accepts");
        let (mut client, _) = client_async(format!("ws://{address}/ws"), stream).await.expect("it upgrades");
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        client.send(Message::text(call)).await.expect("the server reads");
        seen.begun.notified().await;
        stopping.cancel();
        let Some(Ok(Message::Close(Some(closed)))) = client.next().await else { panic!("it closes the connection") };
        assert_eq!((closed.code, closed.reason.as_str()), (CloseCode::Away, "the server is shutting down"));
        drop(client);
        serving.await.expect("it does not panic").expect("it stops well");
        assert_eq!(seen.ending(), Some(CallEnd::Cancelled));
    }

    #[tokio::test]
    async fn a_m8_r3_h2_unfinished_messages_are_limited_together_with_bodies_and_pings_hold_nothing() {
        let server = Server::new("small", "1.0.0")
            .limits(crate::server::Limits::new().memory(60_000).message_size(40_000))
            .build()
            .expect("a good server");
        let budget = server.0.bytes().clone();
        let (client, stream) = tokio::io::duplex(64 * 1024);
        let (engine, held) = (server.0, budget.hold(None));
        let serving = tokio::spawn(async move {
            serve_websocket(&engine, stream, Http::default(), held).await;
        });
        let mut client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
        let fragment = |kind, is_last| Message::Frame(Frame::message(vec![b' '; 20_000], OpCode::Data(kind), is_last));
        let ping = Message::Ping(vec![b'p'; 125].into());
        client.send(fragment(Data::Text, false)).await.expect("the server reads");
        // More than there is room for, in the middle of a message.
        for _ in 0..1_000 {
            client.send(ping.clone()).await.expect("the server reads");
            assert!(matches!(client.next().await, Some(Ok(Message::Pong(_)))), "nothing of it is held");
        }
        assert!((10_000..=20_000).contains(&budget.used()), "{} bytes of the message", budget.used());
        // Fragments of nothing: more than there is room for, if their headers were held.
        for _ in 0..20_000 {
            let nothing = Frame::message(Vec::new(), OpCode::Data(Data::Continue), false);
            client.send(Message::Frame(nothing)).await.expect("the server reads");
        }
        client.send(ping).await.expect("the server reads");
        assert!(matches!(client.next().await, Some(Ok(Message::Pong(_)))), "it is open");
        assert!(budget.used() <= 40_000 + READ_BUFFER, "{} bytes of the message", budget.used());
        client.send(fragment(Data::Continue, true)).await.expect("the server reads");
        assert!(matches!(client.next().await, Some(Ok(Message::Text(_)))), "it is read, and refused");
        let mut others = budget.hold(None).another();
        others.grow(60_000).expect("nothing else is held");
        client.send(Message::text("{}")).await.expect("the server reads");
        assert!(matches!(client.next().await, Some(Ok(Message::Text(_)))), "small ones are always read");
        client.send(Message::text(" ".repeat(50_000))).await.expect("the server reads");
        let Some(Ok(Message::Close(Some(closed)))) = client.next().await else { panic!("it closes the connection") };
        assert_eq!(closed.code, CloseCode::Again);
        drop((client, others));
        serving.await.expect("it does not panic");
        assert_eq!(budget.used(), 0, "nothing is held");
    }
}
