// 5:18: `enabled` names a resolver, `enabled = gate`, or several that must all be open, `enabled = [first, second]`
use rejoinder::prelude::*;

/// An empty list would open the tool to everybody.
#[tool(enabled = [])]
fn vault() {}

fn main() {
    let _ = Server::new("bank", "1").tools(tools![vault]);
}
