//! The accept loop: one spawned future for each connection, until the server stops.

use std::{
    io::{self, IoSlice},
    net::{Ipv4Addr, SocketAddr},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use ::http::Request;
use futures_util::{
    FutureExt, StreamExt,
    future::{BoxFuture, join},
    stream::FuturesUnordered,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf},
    net::{
        TcpListener, TcpSocket, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    McpService,
    limited_stream::{LimitedStream, READ_BUFFER},
};
use crate::{
    rounds::seal::Seal,
    server::{BuiltServer, Server, http::PeerAddress},
    transport::{
        Error,
        shutdown::{finish_teardown, on_signal, serve_started},
    },
};

instead!(
    ServerAuth for Server,
    "a `Server` has no `auth`: authentication is a setting of HTTP, `.http(http::Config::new().auth(..))`",
    "the caller on stdio is set with `.stdio_principal(..)`, and your own credentials are read in `.principal(..)`": auth
);

instead!(
    ServerHttp for Server,
    "this is a setting of HTTP: `.http(http::Config::new().allow_host(..))`",
    "a method of `http::Config`, not of `Server`": allow_host allow_any_host allow_origin path websocket sse max_sessions
);

instead!(
    ServerServe for Server,
    "a `Server` is served with `.serve_from_args()`, `.serve_http(address)` or `.serve_stdio()`",
    "to mount it in an application: `.build()?.into_service()`": serve run listen stdio serve_ws serve_websocket into_service into_router
);

impl Server {
    /// Serves Streamable HTTP at this address, with the path `/mcp` ([or another](crate::http::Config::path)), until SIGINT
    /// or SIGTERM.
    ///
    /// After a signal, [`on_stop`](crate::Server::on_stop) runs within three [grace periods](crate::Server::grace_period), whatever
    /// functions do. A function that blocks its thread cannot be ended: a runtime that is dropped waits for that thread, so that the
    /// process does not end. End it with [`Runtime::shutdown_timeout`](tokio::runtime::Runtime::shutdown_timeout) or
    /// [`std::process::exit`], as [`serve_from_args`](crate::Server::serve_from_args) does.
    ///
    /// Await the future to its end: if it is dropped, what [`on_stop`](crate::Server::on_stop) was given does not run.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, cannot listen on the address, or does not start.
    pub fn serve_http(self, address: SocketAddr) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            let server = self.build()?;
            let listener = listen(address).map_err(|error| {
                let message = format!("cannot listen on {address}: {error}; try another address or port");
                io::Error::new(error.kind(), message)
            })?;
            server.serve_http(listener).await
        })
    }
}

impl BuiltServer {
    /// Serves Streamable HTTP at `/mcp` ([or another path](crate::http::Config::path)) on a listener until SIGINT or SIGTERM.
    ///
    /// Without [keys](crate::state::StatePolicy::keys) it logs a warning, unless only this machine can reach it: other
    /// processes could not continue its calls.
    ///
    /// Await the future to its end: if it is dropped, what [`on_stop`](crate::Server::on_stop) was given does not run.
    ///
    /// # Errors
    ///
    /// If the server does not start, or the listener fails.
    pub fn serve_http(self, listener: TcpListener) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            let (address, engine) = (listener.local_addr()?, Arc::clone(&self.0));
            on_signal(&engine);
            // A client that connects meanwhile waits until the server has started.
            serve_started(&engine, async {
                let http = engine.http();
                tracing::info!("serving {} at http://{address}{}", engine.info().name, http.path);
                for (scheme, path) in [("ws", &http.websocket), ("http", &http.sse)] {
                    if let Some(path) = path {
                        tracing::info!("and at {scheme}://{address}{path}");
                    }
                }
                log_random_keys(engine.seal(), address);
                if let Some(listening) = &http.on_listening.0 {
                    listening(address);
                }
                Ok(serve(self, listener).await?)
            })
            .await
        })
    }
}

/// How many connections wait to be accepted. The queue of the standard library, 128, is full in a burst of clients, which
/// then wait a second to try again.
const BACKLOG: u32 = 1024;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that starts again need not wait until the connections of the last one are forgotten.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Logs that states are sealed with a random key: behind an address that other machines reach, there may be other
/// processes.
fn log_random_keys(seal: &Seal, address: SocketAddr) {
    if address.ip().is_loopback() {
        seal.mention_random_key();
    } else {
        seal.warn_about_random_key();
    }
}

/// Parses an address to listen on, as `--http` does: an address and a port, or only a port, on `127.0.0.1`. `localhost`
/// is `127.0.0.1`.
///
/// # Errors
///
/// A message that says what is expected.
///
/// ```
/// use rejoinder::http::listen_address;
///
/// assert_eq!(listen_address("0.0.0.0:80"), Ok("0.0.0.0:80".parse().unwrap()));
/// assert_eq!(listen_address("8000"), Ok("127.0.0.1:8000".parse().unwrap()));
/// assert_eq!(listen_address("localhost:8000"), Ok("127.0.0.1:8000".parse().unwrap()));
/// assert!(listen_address("localhost").unwrap_err().contains("127.0.0.1:8000"));
/// ```
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let port = match text.split_once(':') {
        Some((host, port)) if host.eq_ignore_ascii_case("localhost") => port,
        _ => text,
    };
    let local = || port.parse().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = text.parse().ok().or_else(local);
    address.ok_or_else(|| "expected an address and a port, such as 127.0.0.1:8000, or a port, such as 8000".to_owned())
}

/// Serves on a listener until the server stops; then running calls have the grace period to finish.
pub(in crate::transport) async fn serve(BuiltServer(engine): BuiltServer, listener: TcpListener) -> io::Result<()> {
    let grace = engine.grace();
    let service = McpService::new(Arc::clone(&engine));
    let places = Arc::new(Semaphore::new(engine.http().max_connections.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    accept_until(engine.stopping().cancelled(), (&listener, &places), &service, &mut connections).await;
    let finishing = async {
        service.start_closing();
        // Answers and cancellations may come over new connections; the door refuses everything else.
        accept_until(engine.calls_ended(), (&listener, &places), &service, &mut connections).await;
        drop(listener);
        // A session outlives its calls: it has to be closed.
        service.close().await;
        while connections.join_next().await.is_some() {}
    };
    if timeout(grace, finishing).await.is_err() {
        tracing::warn!(?grace, "calls were still running at the end of the grace period");
    }
    // First the connections: a session whose client does not read ends only when its connection is gone.
    let ending = join(connections.shutdown(), service.close()).map(|_| ());
    finish_teardown(&engine, ending).await;
    Ok(())
}

/// Serves connections until `end`.
async fn accept_until(
    end: impl Future<Output = ()>,
    (listener, places): (&TcpListener, &Arc<Semaphore>),
    service: &McpService,
    connections: &mut JoinSet<()>,
) {
    let config = service.0.engine.http();
    let mut end = pin!(end);
    loop {
        tokio::select! {
            (place, stream) = accept_one(listener, places) => {
                // The log of refused requests has it.
                #[cfg(feature = "auth")]
                let peer = config.auth.as_ref().and_then(|_| Some(PeerAddress(stream.peer_addr().ok()?)));
                #[cfg(not(feature = "auth"))]
                let peer = None;
                let (read, write) = stream.into_split();
                let write = Arc::new(write);
                let stream = SharedStream { read, write: Arc::clone(&write), _place: place };
                let left = async move { left((*write).as_ref()).await };
                connections.spawn(connection(stream, peer, service.clone(), config.header_timeout, left));
            }
            Some(_) = connections.join_next() => {}
            () = &mut end => break,
        }
    }
}

/// The next connection, once there is a place for it.
async fn accept_one(listener: &TcpListener, places: &Arc<Semaphore>) -> (OwnedSemaphorePermit, TcpStream) {
    let place = Arc::clone(places).acquire_owned().await.expect("never closed");
    (place, accept(listener).await)
}

/// The next connection. A connection that failed is its client's problem; a lack of file descriptors passes.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // A reply is written whole: waiting to fill a packet would only delay it.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset => {}
                _ => {
                    tracing::error!(%error, "cannot accept connections");
                    sleep(Duration::from_millis(100)).await;
                }
            },
        }
    }
}

/// What is added to the clock must not overflow it.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Why something else than the connection itself may end it.
enum Watched {
    Left,
    Silent,
    Stopping,
}

/// Serves one connection to its end, or until its client has `left`.
async fn connection<S>(
    stream: S,
    peer: Option<PeerAddress>,
    service: McpService,
    timeout: Duration,
    left: impl Future<Output = ()> + Send,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let timeout = timeout.min(LONGEST_TIMEOUT);
    let requests = RequestCount::default();
    let count = Arc::clone(&requests);
    let (held, stopping) = (service.0.engine.bytes().hold_unread(), service.0.engine.stopping().clone());
    let stream = TokioIo::new(LimitedStream::new(stream, timeout, Arc::clone(&requests), held));
    let answer = service_fn(move |mut request: Request<Incoming>| {
        count.fetch_add(1, Ordering::Relaxed);
        if let Some(peer) = peer {
            request.extensions_mut().insert(peer);
        }
        service.route(&request).respond(request, Some(Arc::clone(&count)))
    });
    // `left` and `silent` notice what hyper would look for itself, at a higher price for each request: it would prepare
    // another read, and start another timer.
    // One that comes while the server stops serves one request; ending it gracefully would not wait for that.
    let is_late = stopping.is_cancelled();
    let mut hyper = http1::Builder::new();
    hyper.half_close(true).max_buf_size(READ_BUFFER).keep_alive(!is_late);
    let connection = hyper.serve_connection(stream, answer);
    let mut connection = pin!(connection.with_upgrades());
    // A request wakes the connection and none of these, which are polled only when they are woken.
    let mut watched: FuturesUnordered<BoxFuture<'_, Watched>> = FuturesUnordered::new();
    watched.push(Box::pin(left.map(|()| Watched::Left)));
    watched.push(Box::pin(silent(&requests, timeout).map(|()| Watched::Silent)));
    if !is_late {
        watched.push(Box::pin(stopping.cancelled().map(|()| Watched::Stopping)));
    }
    loop {
        tokio::select! {
            // What the client sent before it left is served.
            biased;
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection failed");
                }
                return;
            }
            Some(watched) = watched.next() => match watched {
                Watched::Left => return,
                Watched::Silent => return tracing::debug!("a client sent no request for too long"),
                Watched::Stopping => connection.as_mut().graceful_shutdown(),
            },
        }
    }
}

/// How many requests a connection has sent, and how often it was written to. Each request holds a clone until its reply has
/// been handed to hyper; a large reply takes many writes after that.
pub(super) type RequestCount = Arc<AtomicUsize>;

/// How many clones there are while no request holds one: where silence is noticed, where requests are counted, and where
/// writes are.
pub(super) const IDLE: usize = 3;

/// Waits until the client has sent no head of a request for that time, or up to a quarter longer, while no reply was on its way.
async fn silent(requests: &RequestCount, timeout: Duration) {
    const TICKS: u32 = 8;
    let (mut count, mut idle) = (0, 0);
    while idle <= TICKS {
        sleep(timeout / TICKS).await;
        let before = std::mem::replace(&mut count, requests.load(Ordering::Relaxed));
        let is_idle = count == before && Arc::strong_count(requests) <= IDLE;
        idle = if is_idle { idle + 1 } else { 0 };
    }
}

/// A stream that can be watched while hyper reads and writes it.
struct SharedStream {
    read: OwnedReadHalf,
    write: Arc<OwnedWriteHalf>,
    /// Its place among the connections: a WebSocket keeps it when hyper is done with the stream.
    _place: OwnedSemaphorePermit,
}

/// What wakes [`left`]: on Linux only the end of the connection, elsewhere also what the client sends.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LEAVING: Interest = Interest::PRIORITY;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const LEAVING: Interest = Interest::READABLE;

/// Waits until the client has left, even if it left bytes behind that nobody reads while its call runs.
async fn left(stream: &TcpStream) {
    loop {
        let is_left = match stream.ready(LEAVING).await {
            Ok(ready) => ready.is_read_closed(),
            Err(_) => true,
        };
        // Longer than it takes to read what the client sent. A client that sends wakes this once in that time.
        sleep(Duration::from_millis(100)).await;
        if is_left {
            return;
        }
    }
}

impl AsyncRead for SharedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.read).poll_read(cx, buffer)
    }
}

impl SharedStream {
    fn poll_io(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream = (*self.write).as_ref();
        loop {
            ready!(stream.poll_write_ready(cx))?;
            match write(stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}

impl AsyncWrite for SharedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_io(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_io(cx, |stream| stream.try_write_vectored(pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Arc::get_mut(&mut self.write) {
            Some(write) => Pin::new(write).poll_shutdown(cx),
            // hyper drops it next, which closes it.
            None => Poll::Ready(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Mutex, task::Context};

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
        sync::Notify,
    };

    use super::*;
    use crate::{
        call::CallEnd,
        prelude::*,
        rounds::seal::{Log, StateKeys},
        transport::tests::waiting::{Seen, wait},
    };

    /// A request of the tool `wait` or `ping`, as bytes.
    fn request(tool: &str) -> String {
        let body = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool,
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/logLevel": "info" } } })
        .to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    #[tool]
    async fn ping() -> &'static str {
        "pong"
    }

    /// A pipe that records the length of each write.
    struct Recorded(DuplexStream, Arc<Mutex<Vec<usize>>>);

    impl AsyncRead for Recorded {
        fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(cx, buffer)
        }
    }

    impl AsyncWrite for Recorded {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.1.lock().expect("no panic").push(bytes.len());
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    #[tokio::test]
    async fn the_head_and_the_body_of_a_small_reply_leave_in_one_write() {
        let server = Server::new("small", "1.0.0").tools(tools![ping]).build().expect("a good server");
        let (mut client, stream) = tokio::io::duplex(64 * 1024);
        let writes = Arc::new(Mutex::new(Vec::new()));
        let stream = Recorded(stream, Arc::clone(&writes));
        tokio::spawn(connection(stream, None, server.into_service(), Duration::from_secs(60), pending()));
        for replies in 1..=3 {
            client.write_all(request("ping").as_bytes()).await.expect("the server reads");
            let mut reply = vec![0; 64 * 1024];
            let length = client.read(&mut reply).await.expect("a reply");
            assert!(String::from_utf8_lossy(&reply[..length]).contains("pong"));
            assert_eq!(writes.lock().expect("no panic").len(), replies, "a write each");
        }
    }

    #[tokio::test]
    async fn a_connection_that_waits_for_its_next_request_holds_nothing() {
        let server = Server::new("small", "1.0.0").tools(tools![ping]).build().expect("a good server");
        let budget = server.0.bytes().clone();
        let (mut client, stream) = tokio::io::duplex(64 * 1024);
        tokio::spawn(connection(stream, None, server.into_service(), Duration::from_secs(60), pending()));
        let long = request("ping").replace("\r\n\r\n", &format!("\r\nX-Long: {}\r\n\r\n", "x".repeat(20_000)));
        let (head, rest) = long.split_at(20_000);
        client.write_all(head.as_bytes()).await.expect("the server reads");
        while budget.used() == 0 {
            tokio::task::yield_now().await;
        }
        client.write_all(rest.as_bytes()).await.expect("the server reads");
        let mut reply = vec![0; 64 * 1024];
        let length = client.read(&mut reply).await.expect("a reply");
        assert!(String::from_utf8_lossy(&reply[..length]).contains("pong"));
        assert_eq!(budget.used(), 0);
    }

    /// Leaves a background task, and replies with more than the pipe of the test takes.
    #[tool]
    async fn leave(background: BackgroundTasks, started: Dep<Notify>) -> Result<String, CallError> {
        background.add(async move { started.notify_one() })?;
        Ok("x".repeat(1000))
    }

    /// The same as events.
    #[tool]
    async fn leave_events(
        ctx: rejoinder::Context,
        background: BackgroundTasks,
        started: Dep<Notify>,
    ) -> Result<String, CallError> {
        ctx.info("it begins").await;
        leave(background, started).await
    }

    #[tokio::test]
    async fn l6_a_background_task_starts_when_the_last_byte_of_the_reply_is_in_the_socket() {
        for (tool, kind) in [("leave", "application/json"), ("leave_events", "text/event-stream")] {
            let started = Arc::new(Notify::new());
            let server = Server::new("small", "1.0.0").provide_arc(Arc::clone(&started));
            let server = server.tools(tools![leave, leave_events]).build().expect("a good server");
            let (mut client, stream) = tokio::io::duplex(64);
            tokio::spawn(connection(stream, None, server.into_service(), Duration::from_secs(60), pending()));
            client.write_all(request(tool).as_bytes()).await.expect("the server reads");
            let mut reply = String::new();
            while reply.matches('x').count() < 900 {
                let mut piece = [0; 16];
                let length = client.read(&mut piece).await.expect("a reply");
                reply.push_str(std::str::from_utf8(&piece[..length]).expect("ASCII"));
            }
            assert!(reply.contains(kind), "{reply}");
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert!(started.notified().now_or_never().is_none(), "{kind}: a part of the reply is not written yet");
            tokio::spawn(async move { tokio::io::copy(&mut client, &mut tokio::io::sink()).await });
            timeout(Duration::from_secs(30), started.notified()).await.expect("it starts");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_is_silent_when_it_sends_no_request_and_gets_no_reply() {
        let (requests, limit) = (RequestCount::default(), Duration::from_secs(8));
        let started = tokio::time::Instant::now();
        let (count, _writes) = (Arc::clone(&requests), Arc::clone(&requests));
        silent(&requests, limit).await;
        assert!((limit..limit * 5 / 4).contains(&started.elapsed()), "{:?}", started.elapsed());
        let sends = async {
            loop {
                sleep(limit - Duration::from_millis(1)).await;
                count.fetch_add(1, Ordering::Relaxed);
            }
        };
        tokio::select! {
            () = silent(&requests, limit) => panic!("it sends requests"),
            _ = timeout(limit * 10, sends) => {}
        }
        let reply = Arc::clone(&count);
        timeout(limit * 10, silent(&requests, limit)).await.expect_err("it gets a reply");
        drop(reply);
        timeout(limit * 2, silent(&requests, limit)).await.expect("it does nothing");
    }

    #[test]
    fn a_random_key_is_a_warning_where_other_machines_reach_the_server() {
        let random = Server::new("shop", "1").build().unwrap();
        let keys = StateKeys::new([b"a key of 32 bytes for some tests"]).unwrap();
        let shared = Server::new("shop", "1").state(crate::state::StatePolicy::new().keys(keys)).build().unwrap();
        for (address, level) in [
            ("127.0.0.1:80", "INFO"),
            ("127.9.9.9:80", "INFO"),
            ("[::1]:80", "INFO"),
            ("0.0.0.0:80", "WARN"),
            ("[::]:80", "WARN"),
            ("192.0.2.1:80", "WARN"),
        ] {
            let address = address.parse().unwrap();
            let log = Log::of(|| log_random_keys(random.0.seal(), address));
            assert_eq!(log.lines().count(), 1, "{address}: {log}");
            assert!(log.contains(level) && log.contains("a random key of this process"), "{address}: {log}");
            assert_eq!(Log::of(|| log_random_keys(shared.0.seal(), address)), "");
        }
    }

    #[tokio::test]
    async fn a_l15_a_burst_of_connections_waits_in_the_queue() {
        let listener = listen(([127, 0, 0, 1], 0).into()).expect("a free port");
        let address = listener.local_addr().expect("an address");
        // Nobody accepts them. One for which there is no room tries again after a second, and again without end.
        let connecting = futures_util::future::try_join_all((0..400).map(|_| TcpStream::connect(address)));
        let connected = timeout(Duration::from_secs(30), connecting).await.expect("there is room for all");
        assert_eq!(connected.expect("they are accepted").len(), 400);
    }

    #[tokio::test]
    async fn what_cancelled_calls_deferred_is_done_before_the_server_has_stopped() {
        let seen = Arc::new(Seen::default());
        let server = Server::new("waiting", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![wait]);
        let server = server.grace_period(Duration::from_millis(50)).build().expect("a good server");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let stopping = server.0.stopping().clone();
        let serving = tokio::spawn(serve(server, listener));
        let mut client = TcpStream::connect(address).await.expect("the server accepts");
        client.write_all(request("wait").as_bytes()).await.expect("the server reads");
        seen.begun.notified().await;
        stopping.cancel();
        serving.await.expect("it does not panic").expect("it stops well");
        assert_eq!(seen.ending(), Some(CallEnd::Cancelled));
    }
}
