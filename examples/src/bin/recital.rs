//! A tool that shows what it has while it works; each line arrives as progress, and the result has all of them:
//! `cargo run -p rejoinder-examples --bin recital -- --http 127.0.0.1:8000 --ws --sse`.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use rejoinder::prelude::*;
use tokio::time::sleep;

/// Recite the lines of a poem.
#[tool(read_only)]
async fn recite(
    /// The number of lines
    lines: usize,
    /// The pause before each line
    #[arg(default = 0, max = 1000)]
    pause_ms: u64,
) -> ToolStream<String> {
    let line = move |number| async move {
        if pause_ms > 0 {
            sleep(Duration::from_millis(pause_ms)).await;
        }
        format!("line {number}\n")
    };
    ToolStream::new(stream::iter(1..=lines).then(line)).total(lines)
}

fn server() -> Server {
    Server::new("recital", "1.0.0").tools(tools![recite])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::testing::Client;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn each_line_arrives_before_the_result() {
        let reply = Client::new(server()).call_tool("recite", json!({ "lines": 2, "pause_ms": 1 })).await.unwrap();
        assert_eq!(reply.text(), "line 1\nline 2\n");
        let seen = reply.progress.iter().map(|line| line.message.as_deref());
        assert!(seen.eq([Some("line 1\n"), Some("line 2\n")]));
    }
}
