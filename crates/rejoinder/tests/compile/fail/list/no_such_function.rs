// 10:51: cannot find type `duoble` in this scope
use rejoinder::prelude::*;

#[tool]
fn double(a: u8) -> u8 {
    2 * a
}

fn main() {
    let _ = Server::new("sums", "1").tools(tools![duoble]);
}
