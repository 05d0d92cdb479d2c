//! The server over HTTP.

use std::process::Stdio;

use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
};

use crate::{
    SERVER,
    recorded::{SESSION, STATELESS},
    wire::{Reply, Request, Session, Wire, is_question, response},
};

/// A server at a free port, until this is dropped.
pub(crate) struct Web {
    client: Client,
    url: String,
    _child: Child,
    /// Kept open: the program may end if its logs are closed.
    _logs: Lines<BufReader<ChildStderr>>,
}

impl Web {
    pub(crate) async fn start() -> Self {
        let mut command = Command::new(SERVER);
        command.args(["--http", "127.0.0.1:0"]).env("RUST_LOG", "rejoinder=info").env_remove("REJOINDER_STATE_KEYS");
        command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the server starts");
        let mut logs = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let url = loop {
            let line = logs.next_line().await.expect("text").expect("the server logs its address");
            if let Some(at) = line.find("http://") {
                break line[at..].split_whitespace().next().expect("an address").to_owned();
            }
        };
        Self { client: Client::new(), url, _child: child, _logs: logs }
    }

    fn post(&self, message: &Value, session: Option<&Session>) -> RequestBuilder {
        let post = self.client.post(&self.url).header("Content-Type", "application/json");
        let post = post.header("Accept", "application/json, text/event-stream").body(message.to_string());
        match session {
            Some(Session(Some(id))) => post.header("MCP-Protocol-Version", SESSION).header("Mcp-Session-Id", id),
            Some(Session(None)) => post,
            None => {
                let name = message["params"]["name"].as_str().expect("a name");
                let post = post.header("MCP-Protocol-Version", STATELESS).header("Mcp-Name", name);
                post.header("Mcp-Method", message["method"].as_str().expect("a method"))
            }
        }
    }
}

/// The messages of a reply: one, or a stream of events.
struct Messages {
    response: Response,
    streams: bool,
    read: Vec<u8>,
}

impl Messages {
    fn of(response: Response) -> Self {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let streams = kind.starts_with("text/event-stream");
        Self { response, streams, read: Vec::new() }
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Some(message) = self.streams.then(|| self.event()).flatten() {
                return message;
            }
            match self.response.chunk().await.expect("the server is running") {
                Some(chunk) => self.read.extend_from_slice(&chunk),
                None if self.streams => panic!("the stream ended without a reply"),
                None => return serde_json::from_slice(&self.read).expect("a message"),
            }
        }
    }

    /// The message of the next event that has one.
    fn event(&mut self) -> Option<Value> {
        while let Some(end) = self.read.windows(2).position(|two| two == b"\n\n") {
            let event: Vec<u8> = self.read.drain(..end + 2).collect();
            let event = String::from_utf8(event).expect("text");
            let data: String = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
            if !data.trim().is_empty() {
                return Some(serde_json::from_str(&data).expect("a message"));
            }
        }
        None
    }
}

impl Wire for Web {
    async fn request(&mut self, request: Request, answer: &mut dyn FnMut(&Value) -> Value) -> Reply {
        let Request { message, session } = request;
        let reply = self.post(&message, session.as_ref()).send().await.expect("an answer");
        let http = Some(reply.status().as_u16().into());
        let opened = reply.headers().get("mcp-session-id").map(|id| id.to_str().expect("text").to_owned());
        let mut messages = Messages::of(reply);
        loop {
            let message = messages.next().await;
            if is_question(&message) {
                let response = response(&message, &answer(&message));
                self.notify(response, session.as_ref().expect("only sessions are asked")).await;
            } else if message.get("method").is_none() {
                return Reply { http, message, session: Session(opened) };
            }
        }
    }

    async fn notify(&mut self, message: Value, session: &Session) {
        let reply = self.post(&message, Some(session)).send().await.expect("an answer");
        assert_eq!(reply.status(), 202, "{message}");
    }
}
