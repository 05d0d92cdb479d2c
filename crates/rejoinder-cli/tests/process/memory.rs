//! Memory follows what the server keeps, not what a client sends.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
};

use serde_json::Value;

use crate::child::{LIMIT, Listening, Piped, Process};

/// The most memory that a server may take, in KiB.
const MOST: u64 = 200 * 1024;

/// How many requests that stay open a server gets.
const REQUESTS: usize = 100;

/// How many clients send large requests at once.
const AT_ONCE: usize = 4;

/// How often each large request is sent: as many bodies of 4 MB, if they were kept, would be too much.
const TURNS: usize = 40;

const META: &str =
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities""#;
const STATELESS: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n";

/// Some 4 MB of JSON. Each `{"":0}` has 7 bytes, and would take several hundred as a value: 260 MB for one request. So
/// what the server keeps of a few of them shows.
fn large() -> String {
    format!("[{}0]", r#"{"":0},"#.repeat(590_000))
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#)
}

/// A call of `add` with these members of `params`.
fn add(arguments: &str, rest: &str) -> String {
    request("tools/call", &format!(r#""name":"add","arguments":{arguments}{rest}"#))
}

/// The same in the stateless era, with these members of `_meta`.
fn stateless(arguments: &str, meta: &str, rest: &str) -> String {
    add(arguments, &format!(r#","_meta":{{{META}:{meta}}}{rest}"#))
}

fn initialize(version: &str, capabilities: &str) -> String {
    let client = r#""clientInfo":{"name":"a","version":"1"}"#;
    request("initialize", &format!(r#""protocolVersion":"{version}",{client},"capabilities":{capabilities}"#))
}

/// What each message of some 4 MB is, and the message: first those of the stateless era, then those of a session.
fn hostile() -> [Vec<(&'static str, String)>; 2] {
    let large = large();
    let stateless = vec![
        ("`_meta`", stateless("{}", &format!(r#"{{}},"own":{large}"#), "")),
        ("capabilities", stateless("{}", &format!(r#"{{"experimental":{{"x":{large}}}}}"#), "")),
        ("`inputResponses`", stateless("{}", "{}", &format!(r#","inputResponses":{{"x":{large}}}"#))),
        ("arguments", stateless(&format!(r#"{{"a":{large},"b":1}}"#), "{}", "")),
        ("`initialize`", initialize("2025-11-25", &format!(r#"{{"experimental":{{"x":{large}}}}}"#))),
    ];
    let session = vec![
        ("`_meta` in a session", add("{}", &format!(r#","_meta":{{"own":{large}}}"#))),
        ("an unknown method", request("no/such", &format!(r#""x":{large}"#))),
        ("a batch", large),
    ];
    [stateless, session]
}

/// That the message is refused: with an error, or with a result that the model reads.
fn assert_refused(kind: &str, reply: &str) {
    let message: Value = serde_json::from_str(reply).unwrap_or_else(|_| panic!("{kind}: not JSON: {reply}"));
    assert!(message["error"]["code"].is_i64() || message["result"]["isError"] == true, "{kind}: {message}");
}

fn assert_small(kind: &str, process: &Process) {
    if let Some(peak) = process.peak_memory() {
        assert!(peak < MOST, "after {kind} it took {peak} KiB");
    }
}

/// Does something [`TURNS`] times.
fn again_and_again(work: impl Fn() + Sync) {
    thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| (0..TURNS / AT_ONCE).for_each(|_| work()));
        }
    });
}

/// The line with the id of a new session.
fn session(server: &Listening, version: &str) -> String {
    let begun = reply(server, "", &initialize(version, "{}"));
    let id = begun.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id")).expect("a session");
    format!("{id}\r\nMCP-Protocol-Version: {version}\r\n")
}

fn reply(server: &Listening, headers: &str, body: &str) -> String {
    let mut reply = String::new();
    server.post_body(headers, body).read_to_string(&mut reply).expect("a reply");
    reply
}

/// Sends each of these again and again.
fn send_hostile(server: &Listening, headers: &str, hostile: &[(&str, String)]) {
    for (kind, body) in hostile {
        assert!(body.len() > 4_000_000);
        again_and_again(|| {
            let headers = if *kind == "`initialize`" { "" } else { headers };
            let reply = reply(server, headers, body);
            assert_refused(kind, reply.split_once("\r\n\r\n").expect("a body").1);
        });
        assert_small(kind, &server.process);
    }
}

#[test]
fn a_h1_large_requests_do_not_fill_the_memory() {
    let [stateless, _] = hostile();
    send_hostile(&Listening::start(), STATELESS, &stateless);
}

#[test]
fn a_h1_large_requests_of_a_session_do_not_fill_the_memory() {
    let (server, [_, of_session]) = (Listening::start(), hostile());
    send_hostile(&server, &session(&server, "2025-03-26"), &of_session);
}

#[test]
fn a_h1_large_lines_do_not_fill_the_memory() {
    let mut server = Piped::start();
    let mut ask = |line: &str| {
        server.write(format!("{line}\n"));
        server.line().expect("a reply")
    };
    for (is_session, hostile) in [false, true].into_iter().zip(hostile()) {
        if is_session {
            assert!(ask(&initialize("2025-03-26", "{}")).contains("2025-03-26"));
        }
        for (kind, line) in hostile.iter().cycle().take(TURNS) {
            assert_refused(kind, &ask(line));
        }
    }
    assert_small("large lines", &server.process);
}

/// A WebSocket, as far as this needs one.
struct WebSocket(TcpStream);

impl WebSocket {
    fn open(server: &Listening) -> Self {
        let mut socket = TcpStream::connect(server.address).expect("the server accepts");
        socket.set_read_timeout(Some(LIMIT)).expect("a socket");
        let request = "GET /mcp/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
        socket.write_all(request.as_bytes()).expect("the server reads");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).expect("a head");
            head.extend(byte);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
        Self(socket)
    }

    fn ask(&mut self, message: &str) -> String {
        // A text in one frame, masked with zeros, which change nothing.
        let length = u64::try_from(message.len()).expect("it fits");
        let frame = [&[0x81, 0xff][..], &length.to_be_bytes(), &[0; 4], message.as_bytes()].concat();
        self.0.write_all(&frame).expect("the server reads");
        loop {
            let [kind, length] = self.read();
            let length = match length {
                126 => usize::from(u16::from_be_bytes(self.read())),
                short => usize::from(short),
            };
            let mut text = vec![0; length];
            self.0.read_exact(&mut text).expect("a frame");
            // Another kind of frame is a ping.
            if kind == 0x81 {
                return String::from_utf8(text).expect("text");
            }
        }
    }

    fn read(&mut self) -> [u8; 2] {
        let mut bytes = [0; 2];
        self.0.read_exact(&mut bytes).expect("a frame");
        bytes
    }
}

#[test]
fn a_h1_large_messages_over_websocket_do_not_fill_the_memory() {
    let server = Listening::start_with(&["--ws"]);
    let [stateless, session] = hostile();
    let (server, stateless, session) = (&server, &stateless, &session);
    thread::scope(|threads| {
        for (is_session, hostile) in [(false, stateless), (false, stateless), (true, session), (true, session)] {
            threads.spawn(move || {
                let mut socket = WebSocket::open(server);
                if is_session {
                    assert!(socket.ask(&initialize("2025-03-26", "{}")).contains("2025-03-26"));
                }
                for (kind, message) in hostile.iter().cycle().take(TURNS / AT_ONCE) {
                    assert_refused(kind, &socket.ask(message));
                }
            });
        }
    });
    assert_small("large messages", &server.process);
}

#[test]
fn a_m8_unfinished_bodies_and_subscriptions_do_not_fill_the_memory() {
    let server = Listening::start();
    // Everything but the last byte: some are refused, and the others wait for it.
    let body = stateless("{}", &format!(r#"{{}},"own":{}"#, large()), "");
    let unfinished: Vec<TcpStream> = (0..REQUESTS).map(|_| server.post_unfinished(STATELESS, &body)).collect();
    assert_eq!(
        reply(&server, STATELESS, &stateless(r#"{"a":1,"b":2}"#, "{}", "")).lines().next(),
        Some("HTTP/1.1 200 OK")
    );
    assert_small("unfinished bodies", &server.process);
    drop(unfinished);

    // The most that one subscription may name: some are refused, and the others stay open.
    let uris: Vec<String> = (0..600).map(|number| format!(r#""{number:0>1700}""#)).collect();
    let filter = format!(r#""notifications":{{"resourceSubscriptions":[{}]}},"_meta":{{{META}:{{}}}}"#, uris.join(","));
    let listen = request("subscriptions/listen", &filter);
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
    let mut open = Vec::new();
    let mut begun = [0; 12];
    for _ in 0..2 * REQUESTS {
        let mut socket = server.post_body(headers, &listen);
        socket.read_exact(&mut begun).expect("a reply");
        open.push((socket, begun.ends_with(b"200")));
    }
    assert!(open.iter().any(|(_, is_open)| *is_open) && open.iter().any(|(_, is_open)| !is_open));
    assert_small("subscriptions", &server.process);
}
