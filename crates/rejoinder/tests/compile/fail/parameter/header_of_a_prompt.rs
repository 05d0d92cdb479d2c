// 5:26: only a tool's arguments can be sent in headers, too
use rejoinder::prelude::*;

#[prompt]
fn review(#[arg(header = "Path")] path: String) -> String {
    path
}

fn main() {}
