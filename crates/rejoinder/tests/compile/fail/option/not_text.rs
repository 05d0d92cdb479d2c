// 4:16: `title` is a string: `title = ".."`
use rejoinder::prelude::*;

#[tool(title = 5)]
fn shout(word: String) -> String {
    word
}

fn main() {}
