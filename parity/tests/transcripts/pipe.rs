//! The server over its standard input and output.

use std::process::Stdio;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{
    SERVER,
    wire::{Reply, Request, Session, Wire, is_question, response},
};

/// A server as a child of its client, until this is dropped.
pub(crate) struct Pipe {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Pipe {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(SERVER);
        command.arg("--stdio").env("RUST_LOG", "off").env_remove("REJOINDER_STATE_KEYS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the server starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { input, output, _child: child }
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }
}

impl Wire for Pipe {
    async fn request(&mut self, request: Request, answer: &mut dyn FnMut(&Value) -> Value) -> Reply {
        self.send(&request.message).await;
        loop {
            let line = self.output.next_line().await.expect("text").expect("the server is running");
            let message: Value = serde_json::from_str(&line).expect("a message");
            if is_question(&message) {
                self.send(&response(&message, &answer(&message))).await;
            } else if message.get("method").is_none() {
                return Reply { http: None, message, session: Session::default() };
            }
        }
    }

    async fn notify(&mut self, message: Value, _: &Session) {
        self.send(&message).await;
    }
}
