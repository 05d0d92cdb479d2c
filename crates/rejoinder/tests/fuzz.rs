//! Random requests of a hostile client, in process. Whatever it sends, it gets a reply that the protocol knows, the author's
//! functions see only what their parameters allow, and the server goes on.
//!
//! Each property runs some thousand cases, and goes on with others for [`SECONDS`] if that is set, as `cargo xtask test` does.
//! States have their own properties, where they are sealed.

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestCaseError, TestRunner},
};
use rejoinder::{http::McpService, prelude::*};
use serde_json::{Value, json, value::RawValue};
use tower_service::Service;

type Checked = Result<(), TestCaseError>;

/// How many cases a property runs at a time, which takes some seconds.
const CASES: u32 = 2_000;

/// The environment variable that says for how many seconds each property runs.
const SECONDS: &str = "FUZZ_SECONDS";

/// Runs a property.
fn holds<S: Strategy>(cases: S, check: impl AsyncFn(S::Value) -> Checked) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let seconds = std::env::var(SECONDS).ok().map(|seconds| seconds.parse().expect("a number of seconds"));
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    for turn in 0.. {
        let default = Config::default();
        // A given seed is that of the first turn.
        let rng_seed = match default.rng_seed {
            RngSeed::Fixed(seed) => RngSeed::Fixed(seed.wrapping_add(turn)),
            random => random,
        };
        let config = Config { cases: CASES, failure_persistence: None, rng_seed, ..default };
        if let Err(error) = TestRunner::new(config).run(&cases, |case| runtime.block_on(check(case))) {
            panic!("{error}");
        }
        if Instant::now() >= end {
            break;
        }
    }
}

/// What is put into texts: the syntax of JSON, URIs and headers, and their limits.
const PIECES: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "0",
    "-",
    "1e999",
    "\\u0000",
    "\\ud800",
    "\u{0}",
    "\u{feff}",
    "é",
    "\u{10ffff}",
    " ",
    "\n",
    "\t",
    "%",
    "%2F",
    "%2e%2e",
    "%00",
    "%ff",
    "/",
    "..",
    "?",
    "#",
    "&",
    "=",
    "*",
    ";",
    "=?base64?",
    "?=",
    "99999999999999999999",
    "\"id\":1,",
    "\"method\":\"ping\",",
    "\"_meta\":{},",
    "\"jsonrpc\":\"2.0\",",
    "[[[[[[[[[[[[[[[[",
];

/// One change of a text, at a place that is chosen when the text is known.
#[derive(Debug, Clone)]
enum Edit {
    Insert(&'static str),
    Remove(usize),
    Repeat(usize),
    Replace(u8),
}

fn edits(most: usize) -> impl Strategy<Value = Vec<(prop::sample::Index, Edit)>> {
    let edit = prop_oneof![
        prop::sample::select(PIECES).prop_map(Edit::Insert),
        (1..40_usize).prop_map(Edit::Remove),
        (1..40_usize).prop_map(Edit::Repeat),
        any::<u8>().prop_map(Edit::Replace),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), edit), 0..=most)
}

/// The text with these changes, which may not be UTF-8 any more.
fn edited(text: &str, edits: &[(prop::sample::Index, Edit)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, edit) in edits {
        let at = at.index(bytes.len() + 1);
        let until = |length: usize| (at + length).min(bytes.len());
        match edit {
            Edit::Insert(piece) => drop(bytes.splice(at..at, piece.bytes())),
            Edit::Remove(length) => drop(bytes.drain(at..until(*length))),
            Edit::Repeat(length) => {
                let again = bytes[at..until(*length)].to_vec();
                bytes.splice(at..at, again);
            }
            Edit::Replace(byte) => {
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
        }
    }
    bytes
}

#[derive(Elicit)]
struct Guests {
    #[elicit(min = 1, max = 8)]
    guests: u8,
    #[elicit(max_length = 5)]
    name: String,
    #[elicit(format = "email")]
    mail: Option<String>,
}

#[resolver]
fn guests() -> Ask<Guests> {
    Ask::user("How many?")
}

/// Reserve a table.
#[tool]
async fn reserve(#[resolve(guests)] guests: &Guests) -> String {
    let Guests { guests, name, mail } = guests;
    assert!((1..=8).contains(guests) && name.chars().count() <= 5, "{guests} {name:?}");
    assert!(mail.as_ref().is_none_or(|mail| mail.contains('@')), "{mail:?}");
    "reserved".to_owned()
}

/// Repeat a text.
#[tool]
async fn echo(#[arg(header = "Text")] text: String, #[arg(default)] times: u8) -> String {
    text.repeat(times.into())
}

#[resource("files://{folder}/{name}")]
async fn file(folder: String, name: String) -> String {
    json!([folder, name]).to_string()
}

#[resource("trees://{path*}/end{?depth}")]
async fn tree(path: Vec<String>, depth: Option<String>) -> String {
    json!([path, depth]).to_string()
}

static SERVICE: LazyLock<McpService> = LazyLock::new(|| {
    let server = Server::new("fuzzed", "1.0.0").tools(tools![reserve, echo]).resources(resources![file, tree]);
    server.build().expect("a good server").into_service()
});

/// A reply: its status and the message in it, which is the last one if they are events.
#[derive(Debug)]
struct Reply {
    status: StatusCode,
    /// The id of the session that it opened.
    session: Option<Vec<u8>>,
    message: Value,
}

impl Reply {
    fn code(&self) -> Option<i64> {
        self.message["error"]["code"].as_i64()
    }

    /// That it is what the protocol allows, and that nothing broke.
    fn is_sound(&self) -> Checked {
        let Self { status, message, .. } = self;
        if message.is_null() {
            prop_assert!(matches!(status.as_u16(), 202 | 204 | 405), "no message: {status}");
            return Ok(());
        }
        prop_assert!(!status.is_server_error() && self.code() != Some(-32603), "it broke: {self:?}");
        prop_assert_eq!(&message["jsonrpc"], "2.0");
        prop_assert!(message.get("result").is_some() != message.get("error").is_some(), "{}", message);
        prop_assert!(self.code().is_some() || status.is_success(), "a result with {}", status);
        prop_assert!(matches!(message["id"], Value::Null | Value::String(_) | Value::Number(_)), "{}", message);
        Ok(())
    }
}

/// Sends a request with these headers; those that cannot be headers are left out.
async fn send(headers: &[(&str, &[u8])], body: Vec<u8>) -> Reply {
    let mut request = Request::post("/mcp").body(Full::new(Bytes::from(body))).expect("a request");
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<http::HeaderName>(), http::HeaderValue::from_bytes(value)) {
            request.headers_mut().append(name, value);
        }
    }
    let Ok(response) = SERVICE.clone().call(request).await;
    let status = response.status();
    let session = response.headers().get("mcp-session-id").map(|id| id.as_bytes().to_vec());
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let text = std::str::from_utf8(&body).expect("UTF-8");
    let message = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap_or(text);
    let message = if message.is_empty() { Value::Null } else { serde_json::from_str(message).expect("JSON") };
    Reply { status, session, message }
}

const COMMON: [(&str, &[u8]); 3] =
    [("host", b"localhost"), ("content-type", b"application/json"), ("accept", b"application/json, text/event-stream")];

/// A stateless request, with the headers that mirror it.
async fn request(method: &str, name: &str, mut params: Value) -> Reply {
    params["_meta"] = meta();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let headers: [(&str, &[u8]); 3] =
        [("mcp-protocol-version", b"2026-07-28"), ("mcp-method", method.as_bytes()), ("mcp-name", name.as_bytes())];
    send(&[COMMON, headers].concat(), body.to_string().into_bytes()).await
}

fn initialize() -> Value {
    let client = json!({ "name": "fuzz", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// Opens a session and returns its id.
async fn open_session() -> Vec<u8> {
    send(&COMMON, initialize().to_string().into_bytes()).await.session.expect("an id")
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    })
}

/// The envelope: any bytes, as a stateless request and on a session.
#[test]
fn any_body_gets_a_reply() {
    let call = |params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let messages = [
        call(json!({ "name": "echo", "arguments": { "text": "é\u{1}", "times": 2 }, "_meta": meta() })),
        call(json!({ "name": "reserve", "arguments": {}, "_meta": meta() })),
        json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": { "_meta": meta() } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        initialize(),
    ]
    .map(|message| message.to_string());
    holds((prop::sample::select(messages.to_vec()), edits(6), any::<bool>()), async |(message, edits, on_session)| {
        let session = if on_session { Some(open_session().await) } else { None };
        let headers = match &session {
            Some(id) => vec![("mcp-protocol-version", b"2025-11-25".as_slice()), ("mcp-session-id", id)],
            None => vec![
                ("mcp-protocol-version", b"2026-07-28".as_slice()),
                ("mcp-method", b"tools/call"),
                ("mcp-name", b"echo"),
            ],
        };
        let body = edited(&message, &edits);
        let parsed = serde_json::from_slice::<Value>(&body);
        let is_json = serde_json::from_slice::<&RawValue>(&body).is_ok();
        let reply = send(&[&COMMON[..], &headers].concat(), body).await;
        reply.is_sound()?;
        let Ok(sent) = parsed else {
            // The server does not read every number, so one that no type has may stay unnoticed.
            prop_assert!(reply.code().is_some() || is_json, "{:?}", reply);
            return Ok(());
        };
        // A reply belongs to its request, unless the message is not a request: a member twice, for example.
        let id = &reply.message["id"];
        prop_assert!(id.is_null() || *id == sent["id"] || reply.code() == Some(-32600), "{} for {}", id, sent);
        Ok(())
    });
}

/// Answers: any `inputResponses`, to a question that was asked.
#[test]
fn any_answer_is_taken_or_refused() {
    let good = r#"{"guests":{"action":"accept","content":{"guests":2,"name":"Ada","mail":"a@example.com"}}}"#;
    holds(edits(4), async |edits| {
        let asked = request("tools/call", "reserve", json!({ "name": "reserve", "arguments": {} })).await;
        prop_assert_eq!(&asked.message["result"]["resultType"], "input_required", "{:?}", asked);
        let Ok(answers) = serde_json::from_slice::<Value>(&edited(good, &edits)) else { return Ok(()) };
        let state = &asked.message["result"]["requestState"];
        let params =
            json!({ "name": "reserve", "arguments": {}, "inputResponses": answers.clone(), "requestState": state });
        let reply = request("tools/call", "reserve", params).await;
        reply.is_sound()?;
        let result = &reply.message["result"];
        let reserved = result["content"][0]["text"] == "reserved";
        let asked_again = result["resultType"] == "input_required";
        let refused = reply.code() == Some(-32602) || result["isError"] == true;
        prop_assert!(reserved || asked_again || refused, "{} for {}", reply.message, answers);
        prop_assert!(!reserved || answers["guests"]["action"] == "accept", "{}", answers);
        Ok(())
    });
}

/// URI templates: any URI; a part in braces is one segment, whatever the URI contains.
#[test]
fn the_parts_of_any_uri_are_segments() {
    let is_segment = |part: &Value| {
        let part = part.as_str().unwrap_or_default();
        !part.is_empty() && part != "." && part != ".." && !part.contains(['/', '\\'])
    };
    let uris = prop::sample::select(vec!["files://a/b", "files://%41/..", "trees://a/b/end?depth=1", "trees://a/end"]);
    holds((uris, edits(4)), async |(uri, edits)| {
        let Ok(uri) = String::from_utf8(edited(uri, &edits)) else { return Ok(()) };
        let mut params = json!({ "uri": uri, "_meta": meta() });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params.take() });
        let name = format!("=?base64?{}?=", base64(&uri));
        let headers: [(&str, &[u8]); 3] =
            [("mcp-protocol-version", b"2026-07-28"), ("mcp-method", b"resources/read"), ("mcp-name", name.as_bytes())];
        let reply = send(&[COMMON, headers].concat(), body.to_string().into_bytes()).await;
        reply.is_sound()?;
        let Some(text) = reply.message["result"]["contents"][0]["text"].as_str() else {
            prop_assert_eq!(reply.code(), Some(-32602), "{}", uri);
            return Ok(());
        };
        let parts: Value = serde_json::from_str(text).expect("JSON");
        let segments = if uri.starts_with("files") { &parts } else { &parts[0] };
        prop_assert!(segments.as_array().is_some_and(|parts| parts.iter().all(is_segment)), "{}: {}", uri, parts);
        Ok(())
    });
}

/// Headers: any values; a call runs only if those that mirror the body say the same as the body.
#[test]
fn headers_that_differ_from_the_body_are_refused() {
    let arguments = prop_oneof!["[ -~]{0,12}", "\\PC{0,12}"];
    holds((arguments, edits(2), edits(2), edits(1)), async |(text, name, param, version)| {
        let encoded = format!("=?base64?{}?=", base64(&text));
        let (name, param, version) = (edited("echo", &name), edited(&encoded, &param), edited("2026-07-28", &version));
        let params = json!({ "name": "echo", "arguments": { "text": text, "times": 1 }, "_meta": meta() });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let headers: [(&str, &[u8]); 4] = [
            ("mcp-protocol-version", &version),
            ("mcp-method", b"tools/call"),
            ("mcp-name", &name),
            ("mcp-param-text", &param),
        ];
        let reply = send(&[&COMMON[..], &headers].concat(), body.into_bytes()).await;
        reply.is_sound()?;
        let result = reply.message["result"]["content"][0]["text"].as_str();
        let unchanged = name == b"echo" && version == b"2026-07-28" && param == encoded.as_bytes();
        prop_assert!(result.is_some() || !unchanged, "{:?}", reply);
        if let Some(result) = result {
            prop_assert_eq!(result, &text);
            prop_assert_eq!(decoded(&name), b"echo");
            prop_assert_eq!(decoded(&version), b"2026-07-28");
            prop_assert_eq!(decoded(&param), text.as_bytes());
        }
        Ok(())
    });
}

fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// What the value of a header says.
fn decoded(value: &[u8]) -> Vec<u8> {
    let value = value.trim_ascii();
    let inner = value.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?="));
    inner.map_or(Ok(value.to_vec()), |inner| STANDARD.decode(inner)).unwrap_or_default()
}
