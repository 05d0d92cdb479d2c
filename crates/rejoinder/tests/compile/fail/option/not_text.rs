// 4:16: mismatched types
use rejoinder::prelude::*;

#[tool(title = 5)]
fn shout(word: String) -> String {
    word
}

fn main() {}
