use rejoinder::prelude::*;

#[tool(name = "shout it")]
fn shout(word: String) -> String {
    word
}

fn main() {}
