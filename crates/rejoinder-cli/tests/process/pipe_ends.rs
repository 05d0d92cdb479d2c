//! How a conversation on a pipe ends.

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Stdio,
};

use serde_json::json;

use crate::child::{LIMIT, Piped, Process, binary, call, with_progress};

#[test]
fn the_end_of_input_lets_calls_finish() {
    let mut server = Piped::start();
    for id in 0..20 {
        server.send(&call(id, "count_to", json!({ "number": 3 })));
    }
    let (rest, status, _) = server.close();
    assert!(status.success());
    assert_eq!(rest.iter().filter(|line| line.contains("counted to 3")).count(), 20);
}

#[test]
fn a_last_line_without_a_line_break_counts() {
    let mut server = Piped::start();
    server.write(call(1, "add", json!({ "a": 1, "b": 2 })).to_string());
    let (rest, status, _) = server.close();
    assert!(status.success());
    assert_eq!(rest.len(), 1);
    assert!(rest[0].contains("\"text\":\"3\""));
}

#[test]
fn no_input_at_all_is_no_failure() {
    let (rest, status, _) = Piped::start().close();
    assert!(rest.is_empty() && status.success());
}

#[test]
fn a_client_that_reads_no_more_has_left() {
    let mut server = Piped::start_unread();
    drop(server.process.0.stdout.take());
    server.send(&with_progress(call(1, "count_to", json!({ "number": 1_000_000 })), 1));
    assert!(server.process.wait().success());
}

/// Clients on Node.js give their children sockets.
#[test]
fn sockets_do_instead_of_pipes_and_signals_are_heeded() {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    ours.set_read_timeout(Some(LIMIT)).expect("a socket");
    let stdio = |socket: &UnixStream| Stdio::from(OwnedFd::from(socket.try_clone().expect("a socket")));
    let mut command = binary();
    command.arg("--stdio").stdin(stdio(&theirs)).stdout(stdio(&theirs)).stderr(Stdio::null());
    let mut process = Process(command.spawn().expect("the binary starts"));
    drop((theirs, command));
    let mut answers = BufReader::new(ours.try_clone().expect("a socket")).lines();
    for id in 0..3 {
        writeln!(&ours, "{}", call(id, "add", json!({ "a": 1, "b": 2 }))).expect("it reads");
        assert!(answers.next().expect("an answer").expect("text").contains("\"text\":\"3\""));
    }
    // Its input stays open.
    process.signal("TERM");
    assert!(process.wait().success());
}

#[test]
fn a_file_does_instead_of_a_pipe() {
    let path = std::env::temp_dir().join(format!("rejoinder-input-{}", std::process::id()));
    std::fs::write(&path, format!("{}\n", call(1, "add", json!({ "a": 1, "b": 2 })))).expect("a file");
    let input = File::open(&path).expect("the file");
    let output = binary().arg("--stdio").stdin(input).stderr(Stdio::null()).output().expect("it runs");
    std::fs::remove_file(&path).expect("the file");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"text\":\"3\""));
}
