use rejoinder::prelude::*;

#[tool("shout")]
fn shout(word: String) -> String {
    word
}

fn main() {}
