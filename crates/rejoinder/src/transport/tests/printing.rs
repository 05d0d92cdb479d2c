//! A server on the standard output of its process, whose functions print there.

use std::{
    env,
    io::{Read, Write},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::prelude::*;

/// Prints, and has a child print.
#[tool]
fn print() -> &'static str {
    println!("printed by a tool");
    let child = Command::new("echo").arg("printed by a child").status();
    assert!(child.is_ok_and(|status| status.success()));
    "done"
}

/// Set in the process that the test starts: this program once more.
const SERVER: &str = "REJOINDER_PRINTING_SERVER";

#[test]
fn the_server_of_the_test_below() {
    if env::var_os(SERVER).is_none() {
        return;
    }
    let server = Server::new("printing", "1.0.0")
        .tools(tools![print])
        .on_start(async |_| {
            println!("printed at the start");
            Ok::<_, CallError>(())
        })
        .on_stop(async |_| println!("printed at the stop"));
    Runtime::new().expect("a runtime").block_on(server.serve_stdio()).expect("it serves");
    print!("printed at the end");
}

/// Calls the tool twice, with what the server writes to as its standard output: what is there, and on standard error.
fn serve(stdout: Stdio) -> (String, String) {
    let (is_served, stdout, stderr) = run(Command::new(env::current_exe().expect("this program")), stdout);
    assert!(is_served, "{stderr}");
    (stdout, stderr)
}

/// The same with a command that starts this program. Also returns whether it succeeded.
fn run(mut command: Command, stdout: Stdio) -> (bool, String, String) {
    command.args(["--exact", "transport::tests::printing::the_server_of_the_test_below", "--nocapture"]);
    command.env(SERVER, "").stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
    let mut server = command.spawn().expect("it starts");
    let mut input = server.stdin.take().expect("a pipe");
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    for id in 1..=2 {
        let params = json!({ "name": "print", "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        // It may have failed already.
        let _ = writeln!(input, "{call}");
    }
    drop(input);
    let output = server.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn assert_apart((stdout, stderr): (String, String)) {
    // The test runner prints a line before the server starts.
    let messages = stdout.lines().skip_while(|line| !line.starts_with('{'));
    let replies: Vec<Value> = messages.map(|line| serde_json::from_str(line).expect("a message")).collect();
    let texts = replies.iter().map(|reply| &reply["result"]["content"][0]["text"]);
    assert_eq!(texts.collect::<Vec<_>>(), ["done", "done"], "{stdout}");
    for (text, times) in [("a tool", 2), ("a child", 2), ("the start", 1), ("the stop", 1), ("the end", 1)] {
        let text = format!("printed {} {text}", if text.starts_with("a ") { "by" } else { "at" });
        assert_eq!((stderr.matches(&text).count(), stdout.matches(&text).count()), (times, 0), "{text}: {stderr}");
    }
}

#[test]
fn what_a_server_prints_stays_out_of_the_protocol() {
    assert_apart(serve(Stdio::piped()));
}

#[test]
fn what_a_server_prints_stays_out_of_a_file_with_its_replies() {
    let path = env::temp_dir().join(format!("rejoinder-printing-{}", std::process::id()));
    let (_, stderr) = serve(std::fs::File::create(&path).expect("a file").into());
    let mut stdout = String::new();
    std::fs::File::open(&path).expect("the file").read_to_string(&mut stdout).expect("UTF-8");
    std::fs::remove_file(&path).expect("the file");
    assert_apart((stdout, stderr));
}

#[test]
fn without_file_descriptors_a_server_fails_and_replies_to_nobody_else() {
    let mut failures = 0;
    for files in 8..24 {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")])
            .arg(env::current_exe().expect("this program"));
        let (is_served, _, stderr) = run(command, Stdio::piped());
        assert!(!stderr.contains("jsonrpc"), "with {files} files: {stderr}");
        failures += usize::from(!is_served);
    }
    assert_ne!(failures, 0, "the limit does not work");
}
