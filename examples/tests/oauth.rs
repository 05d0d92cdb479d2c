//! OAuth clients that others wrote find the issuer by themselves, get a token, and see what it opens.

use std::{env, ffi::OsString, path::PathBuf, process::Stdio, time::Duration};

use rejoinder::{
    auth::{Auth, Principal},
    http,
    prelude::*,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
    time::timeout,
};

/// Who calls.
#[tool]
async fn whoami(caller: Principal) -> String {
    caller.subject().to_owned()
}

#[resolver]
fn is_admin(caller: Principal) -> bool {
    caller.has_scope("admin")
}

/// For admins only.
#[tool(enabled = is_admin)]
async fn shut_down() -> &'static str {
    "down"
}

/// Needs more than other tools.
#[tool(scopes = ["files:write"])]
async fn write() -> &'static str {
    "written"
}

/// Stops a test that hangs; nothing passes or fails by how long it takes.
async fn bounded<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(180), future).await.expect("it hangs")
}

/// Something that `cargo xtask test` sets up. Without it nothing would be tested, which is a failure.
fn installed(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("{name} is not set: run `cargo xtask test`, which sets it up"))
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn python(name: &str) -> Command {
    let mut command = Command::new(installed("REJOINDER_PYTHON"));
    command.arg(script(name)).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// An issuer and a server that trusts it.
struct Login {
    issuer: String,
    url: String,
    _issuer: Child,
}

impl Login {
    async fn start() -> Self {
        let mut child = python("python/issuer.py").stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let issuer = bounded(lines.next_line()).await.expect("text").expect("its address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("its address"));
        let auth = Auth::jwt(&issuer, &url).required_scopes(["mcp"]);
        let server = Server::new("shop", "1.0.0").tools(tools![whoami, shut_down, write]);
        let server = server.http(http::Config::new().auth(auth)).build().expect("it is right");
        tokio::spawn(server.serve_http(listener));
        Self { issuer, url, _issuer: child }
    }

    /// Runs a client that logs in as somebody; what it saw.
    async fn seen(&self, mut client: Command, who: &str) -> Value {
        let output = client.args([&self.url, &self.issuer, who]).output();
        let output = bounded(output).await.expect("it starts");
        assert!(output.status.success(), "{who}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("one line of JSON")
    }
}

const HIDDEN: &str = "there is no tool `shut_down`";

#[tokio::test]
async fn the_python_sdk_logs_in_and_gets_more_scopes_when_it_needs_them() {
    let login = Login::start().await;
    let client = |mode: &str| {
        let mut client = python("python/oauth.py");
        client.arg(mode);
        client
    };
    for (mode, who, subject) in [("auto", "robot", "robot"), ("auto", "user", "ada"), ("legacy", "user", "ada")] {
        let seen = login.seen(client(mode), who).await;
        assert_eq!(seen["tools"], json!(["whoami", "write"]), "{mode} {who}");
        assert_eq!(seen["whoami"], subject);
        assert_eq!(seen["shut_down"], format!("-32602 {HIDDEN}"));
        assert_eq!(seen["write"], "written", "{mode} {who}");
    }
    let seen = login.seen(client("auto"), "root").await;
    assert_eq!(seen["tools"], json!(["whoami", "shut_down", "write"]));
    assert_eq!(seen["shut_down"], "down");
}

#[tokio::test]
async fn the_typescript_sdk_logs_in_and_gets_more_scopes_when_it_needs_them() {
    let login = Login::start().await;
    let client = || {
        let modules = PathBuf::from(installed("REJOINDER_NODE_MODULES"));
        let mut client = Command::new(modules.join("node_modules/.bin/node"));
        client.arg(script("node/oauth.mjs")).arg(&modules).stdin(Stdio::null()).kill_on_drop(true);
        client
    };
    let seen = login.seen(client(), "user").await;
    assert_eq!(seen["tools"], json!(["whoami", "write"]));
    assert_eq!((&seen["whoami"], &seen["write"]), (&json!("ada"), &json!("written")), "{seen}");
    assert!(seen["shut_down"].as_str().is_some_and(|error| error.ends_with(HIDDEN)), "{seen}");
    let seen = login.seen(client(), "root").await;
    assert_eq!(seen["tools"], json!(["whoami", "shut_down", "write"]));
    assert_eq!((&seen["whoami"], &seen["shut_down"]), (&json!("root"), &json!("down")), "{seen}");
}
