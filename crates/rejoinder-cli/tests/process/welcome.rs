//! What a new user sees first: the welcome with its command to paste, the help, the graph.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::child::{Process, binary, request, text};

/// The running tour, and the welcome that it printed.
struct Welcomed {
    _process: Process,
    text: String,
}

impl Welcomed {
    fn start() -> Self {
        let mut command = binary();
        command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process(command.spawn().expect("the binary starts"));
        let mut output = BufReader::new(process.0.stdout.take().expect("a pipe"));
        let mut text = String::new();
        while !text.contains("Ctrl-C to stop") {
            assert_ne!(output.read_line(&mut text).expect("text"), 0, "it ended: {text}");
        }
        process.0.stdout = Some(output.into_inner());
        Self { _process: process, text }
    }

    /// The command to paste.
    fn curl(&self) -> &str {
        self.text.lines().map(str::trim).find(|line| line.starts_with("curl ")).expect("a command to paste")
    }

    /// The names in the line that starts with this word, without their explanations.
    fn names(&self, kind: &str) -> Vec<String> {
        let line = self.text.lines().find_map(|line| line.trim().strip_prefix(kind)).expect("a list");
        line.split(", ").map(|name| name.split_whitespace().next().expect("a name").to_owned()).collect()
    }

    /// The names that the server lists, asked with the same command and another request.
    fn listed(&self, method: &str, list: &str, name: &str) -> Vec<String> {
        let (start, _) = self.curl().split_once(" -H 'Mcp-Method: ").expect("the method's header");
        let message = request(1, method, json!({}));
        let listed = sh(&format!("{start} -H 'Mcp-Method: {method}' -d '{message}'"));
        let items = listed["result"][list].as_array().unwrap_or_else(|| panic!("no list: {listed}"));
        items.iter().map(|item| item[name].as_str().expect("a name").to_owned()).collect()
    }
}

/// Runs a line as a shell does. It prints JSON.
fn sh(line: &str) -> Value {
    let output = Command::new("sh").arg("-c").arg(line).stdin(Stdio::null()).output().expect("there is a shell");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_str(&printed).unwrap_or_else(|_| panic!("not JSON: {printed}\n{errors}"))
}

fn run(arguments: &[&str]) -> String {
    let output = binary().args(arguments).stdin(Stdio::null()).output().expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut text = String::new();
    output.stdout.as_slice().read_to_string(&mut text).expect("text");
    text
}

#[test]
fn the_command_of_the_welcome_works() {
    let welcomed = Welcomed::start();
    assert_eq!(text(&sh(welcomed.curl())), "3");
}

#[test]
fn the_welcome_lists_exactly_what_the_server_offers() {
    let welcomed = Welcomed::start();
    assert_eq!(welcomed.names("tools "), welcomed.listed("tools/list", "tools", "name"));
    assert_eq!(welcomed.names("prompts "), welcomed.listed("prompts/list", "prompts", "name"));
    let mut resources = welcomed.listed("resources/list", "resources", "uri");
    resources.extend(welcomed.listed("resources/templates/list", "resourceTemplates", "uriTemplate"));
    assert_eq!(welcomed.names("resources "), resources);
}

#[test]
fn the_help_names_every_flag() {
    let help = run(&["--help"]);
    for flag in [
        "--stdio",
        "--http <ADDR>",
        "graph",
        "[default: 127.0.0.1:8000]",
        "--help",
        "--version",
        "REJOINDER_STATE_KEYS",
    ] {
        assert!(help.contains(flag), "{flag} in {help}");
    }
    assert!(run(&["graph", "--help"]).contains("--mermaid"));
    assert_eq!(run(&["--version"]), format!("rejoinder {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_port_in_use_is_an_error_and_not_a_welcome() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let output = binary().args(["--http", &address]).stdin(Stdio::null()).output().expect("the binary starts");
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains(&format!("cannot listen on {address}: ")), "{error}");
}

#[test]
fn the_graph_shows_every_item_and_what_it_asks() {
    let graph = run(&["graph"]);
    let welcomed = Welcomed::start();
    for tool in welcomed.names("tools ") {
        assert!(graph.contains(&format!("tool {tool}\n")), "{tool} in {graph}");
    }
    for prompt in welcomed.names("prompts ") {
        assert!(graph.contains(&format!("prompt {prompt}\n")), "{prompt} in {graph}");
    }
    for resource in welcomed.names("resources ") {
        assert!(graph.contains(&format!("resource {resource}\n")), "{resource} in {graph}");
    }
    let (_, delete) = graph.split_once("tool delete_note\n").expect("the tool");
    assert!(delete.lines().any(|line| line.contains("which asks as `confirm`")), "{delete}");
    let mermaid = run(&["graph", "--mermaid"]);
    assert!(mermaid.starts_with("flowchart LR\n") && mermaid.contains("delete_note"), "{mermaid}");
}
