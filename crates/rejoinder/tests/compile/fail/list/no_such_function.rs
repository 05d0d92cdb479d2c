// 10:51: this does not name a `rejoinder::Tool`
use rejoinder::prelude::*;

#[tool]
fn double(a: u8) -> u8 {
    2 * a
}

fn main() {
    let _ = Server::new("sums", "1").tools(tools![duoble]);
}
