// 5:25: `pattern` is not a regular expression: found unclosed character class
use rejoinder::prelude::*;

#[tool]
fn find(#[arg(pattern = "^[a-z")] word: String) -> String {
    word
}

fn main() {}
