//! The binary, started and watched.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// Nothing passes or fails by how long it takes; this only stops a test that hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rejoinder"));
    command.env_remove("RUST_LOG").env_remove("REJOINDER_STATE_KEYS");
    command
}

/// A request of the stateless era.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut request = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method });
    request["params"] = params;
    let meta = &mut request["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let mut call = request(id, "tools/call", json!({ "name": tool }));
    call["params"]["arguments"] = arguments;
    call
}

/// The same request, with progress wanted.
pub(crate) fn with_progress(mut request: Value, token: impl Into<Value>) -> Value {
    request["params"]["_meta"]["progressToken"] = token.into();
    request
}

/// The process; killed when a test is done with it.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.0.id().to_string()]).status();
        assert!(sent.expect("there is a kill").success());
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().expect("a child") {
                return status;
            }
            assert!(begin.elapsed() < LIMIT, "the process does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The most memory it has used, in KiB, where that can be known.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

/// The server on a pair of pipes.
pub(crate) struct Piped {
    pub(crate) process: Process,
    pub(crate) input: Option<ChildStdin>,
    output: Option<mpsc::Receiver<String>>,
}

impl Piped {
    pub(crate) fn start() -> Self {
        Self::start_unread().read()
    }

    /// With these keys in its environment.
    pub(crate) fn start_with_keys(keys: &str) -> Self {
        let mut command = binary();
        command.env("REJOINDER_STATE_KEYS", keys);
        Self::spawn(command).read()
    }

    fn read(mut self) -> Self {
        let output = self.process.0.stdout.take().expect("a pipe");
        self.output = Some(lines(output));
        self
    }

    /// Nothing reads its output.
    pub(crate) fn start_unread() -> Self {
        Self::spawn(binary())
    }

    fn spawn(mut command: Command) -> Self {
        command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process(command.spawn().expect("the binary starts"));
        let input = process.0.stdin.take();
        Self { process, input, output: None }
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("not closed yet");
        input.write_all(bytes.as_ref()).and_then(|()| input.flush()).expect("the server reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n"));
    }

    /// The next line that the server wrote; `None` at the end.
    pub(crate) fn line(&self) -> Option<String> {
        match self.output.as_ref().expect("read").recv_timeout(LIMIT) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the server is silent"),
        }
    }

    pub(crate) fn message(&self) -> Value {
        let line = self.line().expect("a message");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("nothing but JSON belongs here: {line}"))
    }

    pub(crate) fn still_answers(&mut self) {
        self.send(&call("ping", "add", json!({ "a": 1, "b": 2 })));
        let answer = self.message();
        assert_eq!((&answer["id"], text(&answer)), (&json!("ping"), "3".to_owned()), "{answer}");
    }

    /// Closes its input, and waits for its end.
    pub(crate) fn close(mut self) -> (Vec<String>, ExitStatus, String) {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(line) = self.line() {
            rest.push(line);
        }
        let status = self.process.wait();
        let mut errors = String::new();
        let log = self.process.0.stderr.as_mut().expect("a pipe");
        log.read_to_string(&mut errors).expect("text");
        (rest, status, errors)
    }
}

fn lines(output: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Reads to the end, even without a receiver, because a closed pipe would disturb the server.
        for line in BufReader::new(output).lines() {
            let _ = sender.send(line.expect("text"));
        }
    });
    receiver
}

pub(crate) fn text(message: &Value) -> String {
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("not a result with text: {message}")).to_owned()
}

/// The server on HTTP.
pub(crate) struct Listening {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
}

impl Listening {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// With these flags.
    pub(crate) fn start_with(flags: &[&str]) -> Self {
        let mut command = binary();
        command
            .args(["--http", "127.0.0.1:0"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = Process(command.spawn().expect("the binary starts"));
        let output = process.0.stdout.take().expect("a pipe");
        let welcome = lines(output).recv_timeout(LIMIT).expect("it prints its address");
        let address = welcome.rsplit_once("http://").and_then(|(_, address)| address.strip_suffix("/mcp"));
        let address = address.and_then(|address| address.parse().ok()).expect("an address");
        let listening = Self { process, address };
        // Once it has answered it has also begun to listen to signals.
        let mut answer = String::new();
        listening.post(&call(1, "add", json!({ "a": 1, "b": 2 }))).read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        listening
    }

    /// Sends a request on a new connection, which closes after the answer.
    pub(crate) fn post(&self, message: &Value) -> TcpStream {
        let method = message["method"].as_str().expect("a method");
        let name = message["params"]["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}");
        self.post_body(&headers, &message.to_string())
    }

    /// The same with any body, and these headers besides the usual ones.
    pub(crate) fn post_body(&self, headers: &str, body: &str) -> TcpStream {
        let mut socket = self.post_head(headers, body.len());
        socket.write_all(body.as_bytes()).expect("the server reads");
        socket
    }

    /// The same without the last byte of the body. The server may refuse it before it has all arrived.
    pub(crate) fn post_unfinished(&self, headers: &str, body: &str) -> TcpStream {
        let mut socket = self.post_head(headers, body.len());
        let _ = socket.write_all(&body.as_bytes()[..body.len() - 1]);
        socket
    }

    fn post_head(&self, headers: &str, length: usize) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).expect("the server accepts");
        socket.set_read_timeout(Some(LIMIT)).expect("a socket");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).expect("the server reads");
        socket
    }
}
