//! The `rejoinder` command. Without arguments it starts the tour.

#![expect(unreachable_pub, reason = "a program exports nothing, and `pub` reads better than `pub(crate)`")]

mod tour;

use std::net::SocketAddr;

use clap::{Parser, Subcommand};
use tokio::net::TcpListener;

/// Start the tour: a small MCP server that shows what rejoinder offers.
#[derive(Debug, Parser)]
#[command(name = "rejoinder", version, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    /// Serve the tour on standard input and output, to a client that spawned this process
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Serve the tour at http://ADDR/mcp
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8000", value_parser = rejoinder::listen_address)]
    http: SocketAddr,
}

const AFTER_HELP: &str = "\
The variable REJOINDER_STATE_KEYS has the keys that processes share, so that a call which begins in one of them can go on in \
another: base64, separated by commas. `openssl rand -base64 32` makes one.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Print where the parameters of everything in the tour come from
    Graph {
        /// As a Mermaid flowchart instead of text
        #[arg(long)]
        mermaid: bool,
    },
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    let flags = Flags::parse();
    if let Some(Command::Graph { mermaid }) = flags.command {
        let graph = tour::server().graph();
        print!("{}", if mermaid { graph.mermaid() } else { graph.to_string() });
        return Ok(());
    }
    rejoinder::log_to_stderr();
    let server = tour::server().state_keys_from_env()?;
    if flags.stdio {
        return server.serve_stdio().await;
    }
    let listener = TcpListener::bind(flags.http).await?;
    welcome(listener.local_addr()?);
    server.build()?.serve_http(listener).await
}

/// What a newcomer reads first.
fn welcome(address: SocketAddr) {
    println!(
        r#"The rejoinder tour is at http://{address}/mcp

  tools      add, count_to (reports progress), roll (structured result), write_note, delete_note (asks)
  prompts    review
  resources  notes://all, note://{{name}}

Try it:

  curl http://{address}/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: add' -d '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{{"a":1,"b":2}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}'

Ctrl-C stops it. `cargo run -- graph` shows where parameters come from. Its code is in crates/rejoinder-cli/src/tour.
"#
    );
}
