//! What a tool shows while it works arrives at clients that others wrote, on every transport.

use std::{env, path::PathBuf, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
    time::timeout,
};

const RECITAL: &str = env!("CARGO_BIN_EXE_recital");

/// Stops a test that hangs; nothing passes or fails by how long it takes.
async fn bounded<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(180), future).await.expect("it hangs")
}

/// The recital as a server over HTTP, until this is dropped.
struct Recital {
    address: String,
    _child: Child,
    /// Kept open: the program logs there.
    _logs: Lines<BufReader<ChildStderr>>,
}

impl Recital {
    async fn start() -> Self {
        let mut command = Command::new(RECITAL);
        command.args(["--http", "127.0.0.1:0", "--ws", "--sse"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn().expect("it starts");
        let mut logs = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        loop {
            let line = bounded(logs.next_line()).await.expect("text").expect("it ended");
            if let Some((_, address)) = line.split_once("serving recital at http://") {
                let address = address.trim_end().strip_suffix("/mcp").expect("the path").to_owned();
                return Self { address, _child: child, _logs: logs };
            }
        }
    }
}

/// Calls of the TypeScript SDK: how many lines each result has, and how many arrived before it.
async fn seen(transport: &str, target: &str, calls: &Value) -> Value {
    let modules = env::var_os("REJOINDER_NODE_MODULES");
    let modules = PathBuf::from(modules.expect("REJOINDER_NODE_MODULES is not set: run `cargo xtask test`"));
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/node/stream.mjs");
    let mut client = Command::new(modules.join("node_modules/.bin/node"));
    client.arg(script).arg(&modules).args([transport, target, &calls.to_string()]);
    let output = bounded(client.stdin(Stdio::null()).kill_on_drop(true).output()).await.expect("it starts");
    assert!(output.status.success(), "{transport}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one line of JSON")
}

#[tokio::test]
async fn c3_1_the_typescript_sdk_sees_every_item_of_a_stream() {
    let recital = Recital::start().await;
    let address = &recital.address;
    let calls = json!([{ "lines": 100 }, { "lines": 100, "pause_ms": 30 }, { "lines": 5 }, { "lines": 1 }]);
    let expected = json!([[100, 100], [100, 100], [5, 5], [1, 1]]);
    for (transport, target) in [
        ("stdio", RECITAL.to_owned()),
        ("ws", format!("ws://{address}/mcp/ws")),
        ("sse", format!("http://{address}/sse")),
        ("http", format!("http://{address}/mcp")),
    ] {
        let mut all = Vec::new();
        // A client that gets no processor reads late, and then reads the last items together with the reply. Without the time
        // between them, the SDK sees none of five items, however often it tries.
        while all.last() != Some(&expected) && all.len() < 5 {
            all.push(seen(transport, &target, &calls).await);
        }
        assert_eq!(all.last(), Some(&expected), "{transport}: {all:?}");
    }
}
