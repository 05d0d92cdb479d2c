// 10:51: `tools![..]` takes the names of functions marked `#[tool]`, such as `tools![name]`
use rejoinder::prelude::*;

#[tool]
fn double(a: u8) -> u8 {
    2 * a
}

fn main() {
    let _ = Server::new("sums", "1").tools(tools![double(1)]);
}
