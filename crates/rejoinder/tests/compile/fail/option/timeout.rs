// 4:18: `timeout` is a whole number above 0 with its unit `ms`, `s`, `m` or `h`: `timeout = "30s"`
use rejoinder::prelude::*;

#[tool(timeout = "30 seconds")]
fn shout(word: String) -> String {
    word
}

fn main() {}
