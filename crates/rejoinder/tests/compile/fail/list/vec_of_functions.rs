// 10:44: this is not a list of `rejoinder::Tool`s
use rejoinder::prelude::*;

#[tool]
fn double(a: u8) -> u8 {
    2 * a
}

fn main() {
    let _ = Server::new("sums", "1").tools(vec![double]);
}
