//! The program with plans and a feature flag, seen from outside: who is given at the start or has a token sees what.
#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

/// Names the caller on standard input and output.
const USER: &str = "ALLOW_LIST_USER";

fn program(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allow_list"));
    command.args(flags);
    for variable in ["RUST_LOG", "REJOINDER_STATE_KEYS", USER] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A request of the stateless era.
fn request(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The same list, in a session.
fn in_session() -> [Value; 3] {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
    ]
}

fn names(reply: &Value) -> Vec<&str> {
    let tools = reply["result"]["tools"].as_array().unwrap_or_else(|| panic!("not a list: {reply}"));
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// Sends messages of this user on standard input; what it writes until it ends.
fn on_stdio(user: Option<&str>, flags: &[&str], messages: &[Value]) -> Output {
    let mut child =
        program(flags).envs(user.map(|user| (USER, user))).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    for message in messages {
        // A program that refuses its flags does not read.
        let _ = writeln!(input, "{message}");
    }
    drop(input);
    child.wait_with_output().expect("it ends with its input")
}

/// The tools that it lists on standard input and output, in both eras.
fn listed(user: Option<&str>, flags: &[&str]) -> Vec<String> {
    let lists = [&in_session()[..], &[request("tools/list", json!({}))]].map(|messages| {
        let output = on_stdio(user, flags, messages);
        let text = String::from_utf8(output.stdout).expect("text");
        let last =
            text.lines().last().unwrap_or_else(|| panic!("no reply: {}", String::from_utf8_lossy(&output.stderr)));
        let reply: Value = serde_json::from_str(last).expect("JSON");
        names(&reply).into_iter().map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(lists[0], lists[1], "both eras");
    lists[0].clone()
}

#[test]
fn on_stdio_the_environment_names_the_user() {
    for (user, flags, expected) in [
        (None, &[][..], &["search"][..]),
        (Some("bob"), &[], &["search"]),
        (Some("ada"), &[], &["search", "export"]),
        (Some("root"), &[], &["search", "export", "set_new_search"]),
        (Some("root"), &["--tools", "search,set_new_search"], &["search", "set_new_search"]),
        (Some("root"), &["--read-only"], &["search", "export"]),
    ] {
        assert_eq!(listed(user, flags), expected, "{user:?} {flags:?}");
    }
    let call = |user, tool| {
        let output = on_stdio(Some(user), &[], &[request("tools/call", json!({ "name": tool, "arguments": {} }))]);
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(call("ada", "export").contains("exported, as Pro"));
    assert_eq!(call("bob", "export").replace("export", "exprot"), call("bob", "exprot"));
}

/// The program over HTTP; ended when a test is done with it.
struct Serving {
    child: Child,
    address: String,
    _logs: BufReader<std::process::ChildStderr>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn start(flags: &[&str]) -> Self {
        let mut child = program(&[&["--http", "127.0.0.1:0"], flags].concat()).spawn().expect("it starts");
        let mut logs = BufReader::new(child.stderr.take().expect("a pipe"));
        let address = loop {
            let mut line = String::new();
            assert_ne!(logs.read_line(&mut line).expect("text"), 0, "it ended");
            if let Some((_, address)) = line.split_once(" at http://") {
                break address.trim_end().strip_suffix("/mcp").expect("the path").to_owned();
            }
        };
        Self { child, address, _logs: logs }
    }

    /// Sends a request with this token; the status, and the reply.
    fn post(&self, token: Option<&str>, message: &Value) -> (u16, Value) {
        let mut socket = TcpStream::connect(&self.address).expect("it accepts");
        // Nothing passes or fails by how long it takes; this only stops a test that hangs.
        socket.set_read_timeout(Some(Duration::from_secs(120))).expect("a socket");
        let (body, method) = (message.to_string(), message["method"].as_str().expect("a method"));
        let name = message["params"]["name"].as_str().map_or(String::new(), |name| format!("Mcp-Name: {name}\r\n"));
        let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n{name}{token}Connection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all((head + &body).as_bytes()).expect("it reads");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("text");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let body = answer.split_once("\r\n\r\n").expect("a body").1;
        (status, serde_json::from_str(body).expect("JSON"))
    }

    /// The tools that the owner of a token sees.
    fn seen(&self, token: Option<&str>) -> Vec<String> {
        let (_, reply) = self.post(token, &request("tools/list", json!({})));
        names(&reply).into_iter().map(str::to_owned).collect()
    }
}

const ROOT: Option<&str> = Some("token-of-root-1234");

#[test]
fn over_http_the_owner_of_a_token_sees_the_tools_of_its_plan() {
    let serving = Serving::start(&[]);
    for (token, expected) in [
        (None, &["search"][..]),
        (Some("token-of-bob-1234"), &["search"]),
        (Some("token-of-ada-1234"), &["search", "export"]),
        (ROOT, &["search", "export", "set_new_search"]),
    ] {
        assert_eq!(serving.seen(token), expected, "{token:?}");
    }
    let list = request("tools/list", json!({}));
    assert_eq!(serving.post(Some("token-of-root-1235"), &list).0, 401, "it is not anonymous");
    // The flag is for everybody.
    let on = request("tools/call", json!({ "name": "set_new_search", "arguments": { "on": true } }));
    assert!(serving.post(Some("token-of-ada-1234"), &on).1["error"].is_object(), "only for admins");
    assert_eq!(serving.seen(None), ["search"]);
    assert_eq!(serving.post(ROOT, &on).0, 200);
    assert_eq!(serving.seen(None), ["search", "search_by_meaning"]);
}

#[test]
fn flags_narrow_what_is_offered_to_all() {
    for (flags, expected) in [
        (&["--read-only"][..], &["search", "export"][..]),
        (&["--tools", "search,set_new_search"], &["search", "set_new_search"]),
        (&["--tools", "set_new_search", "--read-only"], &[]),
    ] {
        assert_eq!(Serving::start(flags).seen(ROOT), expected, "{flags:?}");
    }
    assert_eq!(listed(None, &["--tools", "search,export"]), ["search"], "what is offered still has its gate");
    let output = on_stdio(None, &["--tools", "serch"], &[]);
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(!output.status.success() && error.contains("there is no tool `serch`; did you mean `search`?"), "{error}");
}
