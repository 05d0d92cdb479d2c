//! A process that is told to stop ends, whatever its tools do: `on_stop` runs, and after what ought to run before it.

use std::{
    env,
    future::pending,
    hint::spin_loop,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use clap::Parser;
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Builder, signal::unix};

use crate::{http, prelude::*, transport::args::Flags};

/// Blocks its thread, as no function should.
#[tool]
fn block(how: String) {
    static LOCK: Mutex<()> = Mutex::new(());
    static NEVER: AtomicBool = AtomicBool::new(false);
    eprintln!("\nbegun");
    match how.as_str() {
        "sleep" => thread::sleep(Duration::from_secs(3600)),
        "lock" => {
            let _first = LOCK.lock();
            let _second = LOCK.lock();
        }
        _ => {
            while !NEVER.load(Ordering::Relaxed) {
                spin_loop();
            }
        }
    }
}

/// Waits without end, and defers something.
#[tool]
async fn wait(scope: Scope) {
    scope.defer(async |_| eprintln!("\ndeferred"));
    eprintln!("\nbegun");
    pending::<()>().await;
}

/// Notes that it is dropped.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        eprintln!("\nbackground");
    }
}

/// Leaves a background task without end.
#[tool]
async fn leave(background: BackgroundTasks) -> Result<(), CallError> {
    let dropped = Dropped;
    background.add(async move {
        let _dropped = dropped;
        eprintln!("\nbegun");
        pending::<()>().await;
    })?;
    Ok(())
}

/// How the server is served: the transports of `serve_from_args`, and what an application does itself.
const WAYS: [&str; 7] = ["http", "session", "ws", "sse", "stdio", "mounted", "io"];

/// The way and the number of threads, in the process that a test starts: this program once more.
const SERVER: &str = "REJOINDER_STOPPING_SERVER";

fn server(threads: usize) -> Server {
    let http = http::Config::new().on_listening(|address| eprintln!("\nlistening {address}"));
    Server::new("stopping", "1.0.0")
        .tools(tools![block, wait, leave])
        .http(http)
        .on_stop(async |_| eprintln!("\nstopped"))
        // Where a thread is free, the order of the end counts, and must not depend on how busy the machine is.
        .grace_period(Duration::from_millis(if threads == 3 { 1000 } else { 200 }))
}

/// Serves until a signal.
fn serve(way: &str, threads: usize) {
    // A test that is killed leaves nothing behind.
    thread::spawn(|| {
        thread::sleep(3 * HANG);
        std::process::exit(1);
    });
    let mut builder = if threads == 0 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    let runtime = builder.worker_threads(threads.max(1)).enable_all().build().expect("a runtime");
    if !["mounted", "io"].contains(&way) {
        let arguments: &[&str] =
            if way == "stdio" { &["server", "--stdio"] } else { &["server", "--http=127.0.0.1:0", "--ws", "--sse"] };
        let flags = Flags::try_parse_from(arguments).expect("good flags");
        return runtime.block_on(server(threads).serve_with(flags.serve)).expect("it serves");
    }
    // The application hears the signal, even if the threads of the server are blocked.
    let own = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut signal = {
        let _entered = own.enter();
        unix::signal(unix::SignalKind::terminate()).expect("it can be caught")
    };
    let built = server(threads).build().expect("a good server");
    let serving = built.clone();
    let mounted = way == "mounted";
    runtime.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        eprintln!("\nlistening {}", listener.local_addr().expect("an address"));
        if mounted {
            let app = axum::Router::new().route_service("/mcp", serving.into_service());
            return axum::serve(listener, app).await.expect("it serves");
        }
        let (stream, _) = listener.accept().await.expect("a client");
        let (input, output) = stream.into_split();
        serving.serve_io(input, output).await.expect("it serves");
    });
    own.block_on(signal.recv());
    runtime.block_on(built.stop());
}

#[test]
fn r3_m9_the_server_of_the_tests_below() {
    if let Some(way) = env::var(SERVER).ok().as_deref() {
        let (way, threads) = way.split_once(' ').expect("both");
        serve(way, threads.parse().expect("a number"));
    }
}

/// A client that keeps its connections open.
struct Client {
    server: Child,
    marks: mpsc::Receiver<String>,
    address: String,
    /// Where to post to, if messages are posted.
    post: String,
    open: Vec<TcpStream>,
}

/// Longer than anything takes.
const HANG: Duration = Duration::from_secs(60);

impl Client {
    fn start(way: &str, threads: usize) -> Self {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", "transport::tests::signals::r3_m9_the_server_of_the_tests_below", "--nocapture"]);
        command.env(SERVER, format!("{way} {threads}"));
        let mut server =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(server.stderr.take().expect("a pipe")).lines();
        let (mark, marks) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| mark.send(line)));
        let mut client = Self { server, marks, address: String::new(), post: "/mcp".to_owned(), open: Vec::new() };
        if way != "stdio" {
            let line = client.mark(|line| line.starts_with("listening "));
            client.address = line.expect("it listens")["listening ".len()..].to_owned();
        }
        let initialize = message(
            0,
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "client", "version": "1" } }),
        );
        match way {
            "session" => {
                let head = client.exchange("POST /mcp", "", &initialize.to_string());
                let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
                client.post = format!("/mcp\r\nMcp-Session-Id: {id}");
            }
            "sse" => {
                let head = client.exchange("GET /sse", "", "");
                let endpoint = head.lines().find_map(|line| line.strip_prefix("data: ")).expect("an endpoint");
                client.post = format!("/{endpoint}");
                // Each POST has its own connection, so the next one waits until this one is accepted.
                let target = format!("POST {}", client.post);
                client.exchange(&target, "", &initialize.to_string());
            }
            "ws" => {
                let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                    Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
                client.exchange("GET /mcp/ws", upgrade, "");
            }
            "io" => client.open.push(TcpStream::connect(&client.address).expect("it accepts")),
            _ => {}
        }
        client
    }

    /// The next line that is meant.
    fn mark(&self, is_meant: impl Fn(&str) -> bool) -> Option<String> {
        loop {
            let line = self.marks.recv_timeout(HANG).ok()?;
            if is_meant(&line) {
                return Some(line);
            }
        }
    }

    /// Sends a request over a connection of its own, which stays open; the beginning of the response, if there is one soon.
    fn exchange(&mut self, target: &str, headers: &str, body: &str) -> String {
        let stream = self.post(target, headers, body);
        // The first event follows the head of a stream.
        let end = if target == "GET /sse" { "\n\n" } else { "\r\n\r\n" };
        let mut response = String::new();
        while !response.contains(end) {
            let mut piece = [0; 1024];
            match stream.read(&mut piece).expect("a response") {
                0 => break,
                length => response.push_str(std::str::from_utf8(&piece[..length]).expect("ASCII")),
            }
        }
        response
    }

    fn post(&mut self, target: &str, headers: &str, body: &str) -> &mut TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it accepts");
        stream.set_read_timeout(Some(HANG)).expect("a timeout");
        // What follows the path may be a header of its own.
        let (target, more) = target.split_once("\r\n").unwrap_or((target, "X-Nothing: 1"));
        let request = format!(
            "{target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\n{more}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        self.open.push(stream);
        self.open.last_mut().expect("this one")
    }

    fn send(&mut self, way: &str, message: &Value) {
        let text = message.to_string();
        match way {
            "stdio" => {
                writeln!(self.server.stdin.as_mut().expect("a pipe"), "{text}").expect("it reads");
            }
            "io" => writeln!(self.open[0], "{text}").expect("it reads"),
            "ws" => {
                let length = u16::try_from(text.len()).expect("short").to_be_bytes();
                // A text frame whose mask changes nothing.
                let frame = [&[0x81, 0xFE], &length[..], &[0; 4], text.as_bytes()].concat();
                self.open[0].write_all(&frame).expect("it reads");
            }
            _ => {
                let headers = match way {
                    "http" | "mounted" => format!(
                        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {}\r\n",
                        message["params"]["name"].as_str().expect("a name")
                    ),
                    _ => String::new(),
                };
                let target = format!("POST {}", self.post);
                self.post(&target, &headers, &text);
            }
        }
    }

    /// Calls a tool.
    fn begin(&mut self, way: &str, id: usize, tool: &str, arguments: Value) {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if !["session", "sse"].contains(&way) {
            params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {} });
        }
        self.send(way, &message(id, "tools/call", params));
    }

    /// Calls a tool that says when it has begun.
    fn call(&mut self, way: &str, id: usize, tool: &str, arguments: Value) {
        self.begin(way, id, tool, arguments);
        self.mark(|line| line == "begun").unwrap_or_else(|| panic!("{way}: {tool} does not begin"));
    }

    /// Sends SIGTERM, and waits for `on_stop`: what was noted until then.
    fn terminate(&mut self) -> Vec<String> {
        let id = self.server.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
        let mut noted = Vec::new();
        while let Some(line) = self.mark(|line| ["deferred", "background", "stopped"].contains(&line)) {
            noted.push(line);
            if noted.ends_with(&["stopped".to_owned()]) {
                break;
            }
        }
        noted
    }

    /// Waits until the process has ended.
    fn has_ended(&mut self) -> bool {
        (0..600).any(|_| {
            thread::sleep(Duration::from_millis(100));
            self.server.try_wait().expect("a child").is_some()
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = (self.server.kill(), self.server.wait());
    }
}

fn message(id: usize, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Runs a test for each way, all at once.
fn everywhere(ways: &[&'static str], test: impl Fn(&'static str, &str) + Sync) {
    let (test, hows) = (&test, ["sleep", "lock", "spin"]);
    thread::scope(|scope| {
        for (at, way) in ways.iter().copied().enumerate() {
            scope.spawn(move || test(way, hows[at % hows.len()]));
        }
    });
}

#[test]
fn r3_m9_on_stop_runs_after_everything_else_while_a_thread_is_blocked() {
    everywhere(&WAYS, |way, how| {
        // One that computes would take the time of the others.
        let how = if how == "spin" { "sleep" } else { how };
        let mut client = Client::start(way, 3);
        client.call(way, 1, "leave", json!({}));
        client.call(way, 2, "wait", json!({}));
        client.call(way, 3, "block", json!({ "how": how }));
        let noted = client.terminate();
        // An application ends its own connections, and so the calls on them, when it has stopped the server.
        let expected: &[&str] =
            if way == "mounted" { &["background", "stopped"] } else { &["deferred", "background", "stopped"] };
        assert_eq!(noted, expected, "{way} {how}");
        let is_application = ["mounted", "io"].contains(&way);
        assert!(is_application || client.has_ended(), "{way} {how}: the process ends");
    });
}

#[test]
fn r3_m9_on_stop_runs_while_as_many_calls_block_as_there_are_threads() {
    everywhere(&WAYS, |way, how| {
        let mut client = Client::start(way, 2);
        // The second one may not even begin.
        client.begin(way, 1, "block", json!({ "how": how }));
        client.call(way, 2, "block", json!({ "how": how }));
        assert_eq!(client.terminate(), ["stopped"], "{way} {how}");
        assert!(["mounted", "io"].contains(&way) || client.has_ended(), "{way} {how}: the process ends");
    });
}

#[test]
fn r3_m9_on_stop_runs_while_the_only_thread_is_blocked() {
    everywhere(&WAYS[..5], |way, how| {
        let mut client = Client::start(way, 0);
        client.call(way, 1, "block", json!({ "how": how }));
        assert_eq!(client.terminate(), ["stopped"], "{way} {how}");
        assert!(client.has_ended(), "{way} {how}: the process ends");
    });
}
