// 5:51: `tools![..]` takes the names of functions marked `#[tool]`, such as `tools![name]`
use rejoinder::prelude::*;

fn main() {
    let _ = Server::new("shop", "1").tools(tools![|x: i32| x]);
}
