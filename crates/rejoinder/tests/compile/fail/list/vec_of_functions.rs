// 11:53: this is not a list of `rejoinder::Tool`s
use rejoinder::prelude::*;

#[tool]
fn double(a: u8) -> u8 {
    2 * a
}

fn main() {
    // Of a call with a dot, compilers underline the argument or the method.
    let _ = Server::tools(Server::new("sums", "1"), vec![double]);
}
