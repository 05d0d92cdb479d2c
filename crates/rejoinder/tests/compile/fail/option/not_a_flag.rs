// 4:20: mismatched types
use rejoinder::prelude::*;

#[tool(read_only = 1)]
fn shout(word: String) -> String {
    word
}

fn main() {}
