// 10:42: a gate is of items: `#[tool(enabled = gate)]`, or `.tools(tools![name].enabled::<gate>())`
use rejoinder::prelude::*;

#[resolver]
fn is_open() -> bool {
    true
}

fn main() {
    let _ = Server::new("shop", "1.0.0").enabled::<is_open>();
}
