//! What `serve_from_args` gives every program, seen from outside: its flags, its logs, and how it ends.
#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

/// Nothing passes or fails by how long it takes; this only stops a test that hangs.
const LIMIT: Duration = Duration::from_secs(120);

fn greeter(flags: &[&str]) -> Command {
    program(env!("CARGO_BIN_EXE_greeter"), flags)
}

fn program(path: &str, flags: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(flags).env_remove("RUST_LOG").env_remove("REJOINDER_STATE_KEYS");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(flags: &[&str]) -> Output {
    greeter(flags).output().expect("it starts")
}

/// What it prints when all is well, and nothing is logged.
fn printed(flags: &[&str]) -> String {
    let output = run(flags);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn greet(id: u64, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": id,
    });
    let params = json!({ "name": "greet", "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// A greeter that serves HTTP; ended when a test is done with it.
struct Serving {
    child: Child,
    logs: BufReader<std::process::ChildStderr>,
    address: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn start() -> Self {
        let mut child = greeter(&["--http", "127.0.0.1:0"]).spawn().expect("it starts");
        let mut logs = BufReader::new(child.stderr.take().expect("a pipe"));
        let address = loop {
            let mut line = String::new();
            assert_ne!(logs.read_line(&mut line).expect("text"), 0, "it ended");
            if let Some((_, address)) = line.split_once("serving greeter at http://") {
                break address.trim_end().strip_suffix("/mcp").expect("the path").to_owned();
            }
        };
        Self { child, logs, address }
    }

    fn post(&self, message: &Value) -> BufReader<TcpStream> {
        let mut socket = TcpStream::connect(&self.address).expect("it accepts");
        socket.set_read_timeout(Some(LIMIT)).expect("a socket");
        let body = message.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: greet\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all((head + &body).as_bytes()).expect("it reads");
        BufReader::new(socket)
    }
}

#[test]
fn the_help_names_every_flag_and_what_is_the_default() {
    let help = printed(&["--help"]);
    for text in [
        "Usage: greeter",
        "standard input and output (the default)",
        "--http <ADDR>",
        "graph",
        "--version",
        "REJOINDER_STATE_KEYS",
        "RUST_LOG",
    ] {
        assert!(help.contains(text), "{text} in {help}");
    }
    assert!(!help.contains("[default:"), "{help}");
    assert_eq!(printed(&["--version"]), "greeter 1.0.0\n");
}

#[test]
fn graph_prints_where_parameters_come_from() {
    let graph = printed(&["graph"]);
    let lines: Vec<_> = graph.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "tool greet",
        "├─ name: String argument",
        "├─ times: u8 argument",
        "├─ greetings: Dep<Greetings> injected",
        "└─ ctx: Context injected",
    ];
    assert_eq!(lines, expected, "{graph}");
    assert!(printed(&["graph", "--mermaid"]).starts_with("flowchart LR\n"));
}

#[test]
fn contradictory_and_unknown_flags_are_refused() {
    for flags in [&["--stdio", "--http", "8000"][..], &["--port", "1"], &["graph", "--stdio"], &["--http", "localhost"]]
    {
        let output = run(flags);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_program_has_flags_of_its_own_beside_those_of_every_server() {
    let own_flags = |flags: &[&str]| program(env!("CARGO_BIN_EXE_own_flags"), flags);
    let help = String::from_utf8(own_flags(&["--help"]).output().expect("it starts").stdout).expect("text");
    assert!(!help.contains("serve_from_args"), "{help}");
    for text in ["Greets people", "--greeting <GREETING>", "--http <ADDR>", "--read-only"] {
        assert!(help.contains(text), "{text} in {help}");
    }
    let mut child = own_flags(&["--greeting", "Welcome"]).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    writeln!(input, "{}", greet(7, &json!({ "name": "Ada" }))).expect("it reads");
    drop(input);
    let output = String::from_utf8(child.wait_with_output().expect("it ends with its input").stdout).expect("text");
    assert!(output.contains("Welcome, Ada!"), "{output}");
    let refused = own_flags(&["--path", "/x"]).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&refused.stderr), "Error: `--path` needs `--http ADDR`\n");
}

#[test]
fn without_flags_it_serves_standard_input_and_output() {
    for flags in [&[][..], &["--stdio"]] {
        let mut child = greeter(flags).stdin(Stdio::piped()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        writeln!(input, "{}", greet(7, &json!({ "name": "Ada" }))).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends with its input");
        assert!(output.status.success(), "{output:?}");
        let lines = String::from_utf8(output.stdout).expect("text");
        let messages: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(messages.len(), 2, "progress and the reply: {lines}");
        assert_eq!(
            (&messages[1]["id"], &messages[1]["result"]["content"][0]["text"]),
            (&json!(7), &json!("Hello, Ada!\n"))
        );
    }
}

#[test]
fn logs_go_to_standard_error_and_nothing_to_standard_output() {
    let mut serving = Serving::start();
    let mut answer = String::new();
    serving.post(&greet(1, &json!({ "name": "Ada" }))).read_to_string(&mut answer).expect("an answer");
    assert!(answer.contains("Hello, Ada!"), "{answer}");
    terminate(&serving.child);
    let (mut logs, mut output) = (String::new(), String::new());
    serving.logs.read_to_string(&mut logs).expect("text");
    serving.child.stdout.take().expect("a pipe").read_to_string(&mut output).expect("text");
    assert!(logs.contains("shutting down, running calls may finish"), "{logs}");
    assert_eq!(output, "");
}

#[test]
fn the_logged_command_works() {
    let mut serving = Serving::start();
    let mut line = String::new();
    let command = loop {
        line.clear();
        assert_ne!(serving.logs.read_line(&mut line).expect("text"), 0, "it ended");
        if let Some((_, command)) = line.split_once("try it: ") {
            break command;
        }
    };
    let output = Command::new("sh").args(["-c", command]).output().expect("there is a shell");
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("not JSON: {output:?}"));
    assert!(reply["result"]["capabilities"]["tools"].is_object(), "{reply}");
}

#[test]
fn a_port_that_is_taken_is_named_and_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let output = run(&["--http", &address]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(error.starts_with(&format!("Error: cannot listen on {address}: ")), "{error}");
    assert!(error.trim_end().ends_with("try another address or port"), "{error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn sigterm_lets_a_reply_that_is_being_read_end() {
    let mut serving = Serving::start();
    // Far more than what fits between the two, so that it is not over before its end is read.
    let name = "Ada".repeat(50_000);
    let mut reply = serving.post(&greet(1, &json!({ "name": name, "times": 255 })));
    let mut line = String::new();
    while !line.contains("notifications/progress") {
        line.clear();
        assert_ne!(reply.read_line(&mut line).expect("text"), 0, "it ended");
    }
    terminate(&serving.child);
    while !line.contains("shutting down") {
        line.clear();
        assert_ne!(serving.logs.read_line(&mut line).expect("text"), 0, "it ended");
    }
    assert!(serving.child.try_wait().expect("a child").is_none(), "it waits for the call");
    let mut rest = String::new();
    reply.read_to_string(&mut rest).expect("the reply ends");
    assert_eq!(rest.matches("Hello, Ada").count(), 255);
    assert!(rest.contains("\"resultType\":\"complete\""));
    assert!(serving.child.wait().expect("a child").success());
}

fn terminate(child: &Child) {
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.expect("there is a kill").success());
}
