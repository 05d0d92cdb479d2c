// 4:15: a tool's name is 1 to 128 letters, digits, `_`, `-` and `.`
use rejoinder::prelude::*;

#[tool(name = "shout it")]
fn shout(word: String) -> String {
    word
}

fn main() {}
