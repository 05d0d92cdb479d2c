//! Memory follows what the server keeps: each flood goes to a process of its own, whose memory stays small, and another client
//! is answered before the flood ends.
#![cfg(all(unix, feature = "http"))]
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use futures_util::stream;
use rejoinder::prelude::*;
use serde_json::Value;

/// Makes the test `server` one.
const IS_SERVER: &str = "REJOINDER_MEMORY_SERVER";

/// The most memory that a server may take, in KiB.
const MOST: u64 = 200 * 1024;

/// Nothing passes or fails by how long it takes; this only stops a test that hangs.
const LIMIT: Duration = Duration::from_secs(60);

#[tool]
async fn ping() -> &'static str {
    "pong"
}

/// Waits for an answer, with its argument in the question.
#[tool]
async fn confirm(text: String, ctx: Context) -> Result<String, CallError> {
    let sure: bool = ctx.ask("sure", Ask::confirm(format!("Sure? {text}"))).await?;
    Ok(format!("{sure} {}", text.len()))
}

/// Waits for an answer, with any JSON.
#[tool]
async fn keep(value: Value, ctx: Context) -> Result<String, CallError> {
    let sure: bool = ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok(format!("{sure} {}", value.is_null()))
}

/// Takes longer than any test.
#[tool]
async fn slow() -> &'static str {
    tokio::time::sleep(LIMIT * 10).await;
    "done"
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Row {
    #[schemars(length(max = 9))]
    #[serde(rename = "")]
    name: String,
}

/// Has a constraint inside its argument.
#[tool]
async fn constrained(rows: Vec<Row>) -> String {
    rows.iter().map(|row| row.name.len()).sum::<usize>().to_string()
}

/// Has a constraint on nested lists.
#[tool]
async fn unique(#[arg(unique_items)] lists: Vec<Vec<u8>>) -> String {
    lists.len().to_string()
}

/// Replies with 4 MB, and not at once.
#[tool]
async fn large() -> String {
    tokio::time::sleep(Duration::from_millis(5)).await;
    "x".repeat(4_000_000)
}

/// Never ends.
#[tool]
async fn endless() -> ToolStream<String> {
    ToolStream::new(stream::repeat_with(|| "x".repeat(64 * 1024)))
}

/// What a URI has.
#[resource("memo://{name}")]
async fn memo(name: String) -> String {
    name
}

#[test]
fn server() {
    if env::var_os(IS_SERVER).is_none() {
        return;
    }
    // A test that is killed leaves nothing behind.
    thread::spawn(|| {
        thread::sleep(LIMIT * 5);
        std::process::exit(1);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::new("memory", "1.0.0")
            .tools(tools![ping, confirm, keep, slow, constrained, unique, large, endless])
            .resources(resources![memo])
            .build()
            .unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("\nlistens on {}", listener.local_addr().unwrap());
        server.serve_http(listener).await.unwrap();
    });
}

struct Flooded {
    process: Child,
    address: SocketAddr,
}

impl Drop for Flooded {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const META: &str =
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// `tools/call` with these arguments, and these members beside them.
fn call(tool: &str, arguments: &str, rest: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{rest}}}}}"#
    )
}

/// The same in the stateless era.
fn stateless(tool: &str, arguments: &str, rest: &str) -> (String, String) {
    let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    (headers, call(tool, arguments, &format!(r#","_meta":{{{META}}}{rest}"#)))
}

impl Flooded {
    fn start() -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "server", "--nocapture"])
            .env(IS_SERVER, "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("listens on ")?.parse().ok());
        Self { process, address: address.expect("it says where it listens") }
    }

    /// The most memory it has used, in KiB, where that can be known.
    fn peak(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// Waits until it has read what it was sent.
    fn settle(&self) {
        let mut peaks = (None, self.peak());
        while peaks.0 != peaks.1 {
            thread::sleep(Duration::from_millis(500));
            peaks = (peaks.1, self.peak());
        }
    }

    /// Sends as much of this as the server takes. A refused request may be reset before all of it is sent.
    fn send(&self, bytes: &[&[u8]]) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).expect("the server accepts");
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        socket.set_write_timeout(Some(LIMIT)).unwrap();
        for bytes in bytes {
            if socket.write_all(bytes).is_err() {
                break;
            }
        }
        socket
    }

    /// A POST of which all but so many bytes are sent.
    fn post(&self, headers: &str, body: &str, unsent: usize) -> TcpStream {
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        self.send(&[head.as_bytes(), &body.as_bytes()[..length - unsent]])
    }

    /// A call that has begun, or was refused.
    fn begin(&self, headers: &str, body: &str) -> TcpStream {
        let mut socket = self.post(headers, body, 0);
        let _ = socket.read(&mut [0; 1024]);
        socket
    }

    fn reply(&self, headers: &str, body: &str) -> String {
        let mut reply = Vec::new();
        let _ = self.post(headers, body, 0).read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    }

    /// The headers of a new session.
    fn session(&self) -> String {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "clientInfo":{"name":"a","version":"1"},"capabilities":{"elicitation":{"form":{}}}}}"#;
        let begun = self.reply("", body);
        let id = begun.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id")).expect("a session");
        format!("{id}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
    }

    fn answers(&self) {
        let (headers, body) = stateless("ping", "{}", "");
        let reply = self.reply(&headers, &body);
        assert!(reply.contains("pong"), "{reply}");
    }
}

/// Does something that often, with all that it returns kept to the end. Nobody does it for the last time before another client
/// was answered.
fn flood<T: Send>(kind: &str, times: usize, hostile: impl Fn(&Flooded, usize) -> T + Sync) {
    const AT_ONCE: usize = 4;
    let server = Flooded::start();
    let (next, is_answered) = (AtomicUsize::new(0), AtomicBool::new(false));
    let answered = || {
        let begin = Instant::now();
        while !is_answered.load(Ordering::Relaxed) {
            assert!(begin.elapsed() < LIMIT, "another client is not answered");
            thread::sleep(Duration::from_millis(1));
        }
    };
    thread::scope(|threads| {
        let work = || {
            let mut kept = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= times - AT_ONCE {
                    answered();
                    kept.push(hostile(&server, number));
                    return kept;
                }
                kept.push(hostile(&server, number));
            }
        };
        let flooding: Vec<_> = (0..AT_ONCE).map(|_| threads.spawn(work)).collect();
        server.answers();
        is_answered.store(true, Ordering::Relaxed);
        let kept: Vec<_> = flooding.into_iter().map(|thread| thread.join().expect("it floods")).collect();
        server.answers();
        server.settle();
        drop(kept);
    });
    server.answers();
    if let Some(peak) = server.peak() {
        println!("{kind}: {peak} KiB");
        assert!(peak < MOST, "{kind}: it took {peak} KiB");
    }
}

/// Sends a call of a session that waits for an answer, and leaves.
fn leave_open(server: &Flooded, sessions: &[OnceLock<String>], number: usize, body: &str) {
    let session = sessions[number % sessions.len()].get_or_init(|| server.session());
    let body = body.replacen(r#""id":1"#, &format!(r#""id":{number}"#), 1);
    // Until the question is there, or the refusal.
    drop(server.begin(session, &body));
}

fn sessions() -> [OnceLock<String>; 8] {
    std::array::from_fn(|_| OnceLock::new())
}

/// Small objects that take some sixty times as much memory as values.
fn objects(count: usize) -> String {
    format!("[{}0]", r#"{"":0},"#.repeat(count))
}

#[test]
fn a3_h1_open_questions_do_not_fill_the_memory() {
    let (sessions, body) = (sessions(), call("confirm", &format!(r#"{{"text":"{}"}}"#, "x".repeat(1_000_000)), ""));
    flood("open questions with 1 MB", 270, |server, number| leave_open(server, &sessions, number, &body));
}

#[test]
fn a3_h1_values_of_open_questions_do_not_fill_the_memory() {
    let sessions = sessions();
    let bodies = [590_000, 99_000].map(|count| call("keep", &format!(r#"{{"value":{}}}"#, objects(count)), ""));
    flood("open questions with many values", 100, |server, number| {
        // Most are as large as they may be.
        leave_open(server, &sessions, number, &bodies[usize::from(number % 4 != 0)]);
    });
}

#[test]
fn a3_m2_bodies_of_running_calls_do_not_fill_the_memory() {
    let (headers, body) = stateless("slow", "{}", &format!(r#","x":"{}""#, "x".repeat(1_300_000)));
    flood("slow calls with a large body", 200, |server, _| server.post(&headers, &body, 0));
}

#[test]
fn a3_m5_constraints_do_not_multiply_memory() {
    let named = |count| format!("[{}]", vec![r#"{"":""}"#; count].join(","));
    let lists = |count| format!("[{}]", vec!["[0]"; count].join(","));
    for (tool, name, [most, fits]) in
        [("constrained", "rows", [520_000, 95_000].map(named)), ("unique", "lists", [1_000_000, 95_000].map(lists))]
    {
        let requests = [most, fits].map(|rows| stateless(tool, &format!(r#"{{"{name}":{rows}}}"#), ""));
        flood(tool, 20, |server, number| {
            let (headers, body) = &requests[usize::from(number % 4 != 0)];
            let reply = server.reply(headers, body);
            let is_refused = reply.contains("JSON values") || reply.contains("limit 134217728");
            assert!(is_refused || reply.contains("isError"), "{}", &reply[..reply.len().min(500)]);
        });
    }
}

#[test]
fn a3_m7_kept_replies_do_not_fill_the_memory() {
    let body = call("large", "{}", "");
    flood("kept replies of sessions", 60, |server, number| {
        if number % 2 == 0 {
            return drop(server.begin(&server.session(), &body));
        }
        let reply = server.reply(&server.session(), &body);
        assert!(reply.len() > 4_000_000, "{}", &reply[..reply.len().min(500)]);
    });
}

#[test]
fn a3_m8_heads_and_bodies_that_do_not_end_do_not_fill_the_memory() {
    let head =
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{}", format!("X-A: {}\r\n", "x".repeat(7_900)).repeat(50));
    flood("unfinished heads", 600, |server, _| server.send(&[head.as_bytes()]));
    let (headers, body) = stateless("ping", "{}", &format!(r#","x":"{}""#, "x".repeat(1_000_000)));
    flood("unfinished bodies", 500, |server, _| server.post(&headers, &body, 1));
    let (_, body) = stateless("slow", "{}", "");
    let headers = format!("{}{}", stateless("slow", "", "").0, format!("X-A: {}\r\n", "x".repeat(7_000)).repeat(4));
    flood("calls with large heads", 500, |server, _| server.post(&headers, &body, 0));
}

#[test]
fn a3_m8_subscriptions_do_not_keep_heads() {
    let subscribe = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"memo://a"}}"#;
    let head = |fields: usize| format!("X-A: {}\r\n", "x".repeat(7_900)).repeat(fields);
    let [small, large] = [3, 48].map(head);
    flood("subscriptions with large heads", 600, |server, _| {
        server.reply(&format!("{}{large}", server.session()), subscribe);
    });
    flood("subscriptions with heads", 600, |server, number| {
        let reply = server.reply(&format!("{}{small}", server.session()), subscribe);
        assert!(number > 100 || reply.contains("200 OK"), "{}", &reply[..reply.len().min(500)]);
    });
}

#[test]
fn a3_m10_endless_streams_do_not_fill_the_memory() {
    let (headers, body) = stateless("endless", "{}", "");
    flood("endless streams", 60, |server, _| {
        let socket = server.post(&headers, &body, 0);
        thread::sleep(Duration::from_millis(100));
        socket
    });
}
