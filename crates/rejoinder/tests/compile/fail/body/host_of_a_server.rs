// 5:38: this is a setting of HTTP: `.http(http::Config::new().allow_host(..))`
use rejoinder::prelude::*;

fn main() {
    let _ = Server::new("shop", "1").allow_host("mcp.example.com").tools([]);
}
