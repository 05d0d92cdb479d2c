// 4:20: `read_only` is `true` or `false`
use rejoinder::prelude::*;

#[tool(read_only = 1)]
fn shout(word: String) -> String {
    word
}

fn main() {}
