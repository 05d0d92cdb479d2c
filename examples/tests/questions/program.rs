//! Programs of this package, started as their users start them.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
};

pub(crate) const TRIP: &str = env!("CARGO_BIN_EXE_trip");
pub(crate) const WORK_ITEMS: &str = env!("CARGO_BIN_EXE_work_items");
pub(crate) const RELEASE_NOTES: &str = env!("CARGO_BIN_EXE_release_notes");
pub(crate) const MRTR: &str = env!("CARGO_BIN_EXE_mrtr");
pub(crate) const LOAD_SHEDDING: &str = env!("CARGO_BIN_EXE_load_shedding");

/// A replica of `load_shedding` that never has time.
pub(crate) const BUSY: (&str, &str) = ("AT_ONCE", "0");

/// A program that serves HTTP until this is dropped.
pub(crate) struct Program {
    pub(crate) address: SocketAddr,
    child: Child,
    /// Kept open: a program that cannot log may not go on.
    _logs: Lines<BufReader<ChildStderr>>,
}

impl Program {
    /// Starts it at a free port, with these state keys.
    pub(crate) async fn start(path: &str, keys: Option<&str>) -> Self {
        let mut command = Command::new(path);
        command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.env_remove("RUST_LOG").env_remove("REJOINDER_STATE_KEYS").kill_on_drop(true);
        command.env(BUSY.0, BUSY.1);
        let mut child = command.envs(keys.map(|keys| ("REJOINDER_STATE_KEYS", keys))).spawn().expect("it starts");
        let mut logs = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        loop {
            let line = bounded(logs.next_line()).await.expect("text").expect("it prints its address");
            if let Some((_, address)) = line.split_once(" at http://") {
                let address = address.strip_suffix("/mcp").and_then(|address| address.parse().ok()).expect(&line);
                return Self { address, child, _logs: logs };
            }
        }
    }

    /// Ends it at once, as a crash would; its port is closed when this returns.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("it was there");
    }
}

pub(crate) fn url(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}

/// A guard against hanging, not a measure: it is long enough for the busiest machine.
pub(crate) async fn bounded<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(180), future).await.expect("it hangs")
}
