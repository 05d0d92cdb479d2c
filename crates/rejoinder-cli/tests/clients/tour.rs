//! The tour, started as its users start it.

use std::{process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

/// The `rejoinder` command.
pub(crate) const COMMAND: &str = env!("CARGO_BIN_EXE_rejoinder");

/// A tour that serves HTTP until this is dropped.
pub(crate) struct Tour {
    pub(crate) url: String,
    _child: Child,
    /// Kept open: the program ends if its output is closed.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Tour {
    /// Starts it at a free port.
    pub(crate) async fn start() -> Self {
        let mut command = Command::new(COMMAND);
        command.args(["--http", "127.0.0.1:0", "--sse", "--ws"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the tour starts");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let welcome = output.next_line().await.expect("text").expect("the tour prints its address");
        let url = welcome.split(' ').find(|word| word.starts_with("http://")).expect(&welcome).to_owned();
        Self { url, _child: child, _output: output }
    }
}

/// A guard against hanging, not a measure: it is long enough for the busiest machine.
pub(crate) async fn bounded<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(180), future).await.expect("the client hangs")
}

#[tokio::test]
async fn logs_that_are_not_shown_on_a_terminal_have_no_colours() {
    let mut command = Command::new(COMMAND);
    command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().expect("the tour starts");
    let mut logs = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let first = bounded(logs.next_line()).await.expect("text").expect("the tour logs that it serves");
    assert!(first.contains("serving rejoinder-tour at http://") && !first.contains('\u{1b}'), "{first:?}");
}
