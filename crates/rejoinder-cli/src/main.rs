//! The `rejoinder` command: serves the tour, over HTTP or stdio as the flags say.

#![expect(unreachable_pub, reason = "a program exports nothing, and `pub` reads better than `pub(crate)`")]

mod tour;

use std::net::SocketAddr;

use rejoinder::http;

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    let http = http::Config::new().default_address(([127, 0, 0, 1], 8000)).on_listening(welcome);
    tour::server().http(http).serve_from_args().await
}

/// Prints the tour's address, what it offers, and a command to try.
fn welcome(address: SocketAddr) {
    println!(
        r#"The rejoinder tour is running at http://{address}/mcp

  tools      add, count_to (reports progress), roll (structured result), write_note, delete_note (asks the user)
  prompts    review
  resources  notes://all, note://{{name}}

Paste this into another terminal to call `add`:

  curl -s http://{address}/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: add' -d '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{{"a":1,"b":2}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}'

Or add the address to an MCP client, and let it call `delete_note` with the name `welcome`.

`cargo run -- graph` shows where every parameter comes from. The code is in crates/rejoinder-cli/src/tour.
Press Ctrl-C to stop.
"#
    );
}
