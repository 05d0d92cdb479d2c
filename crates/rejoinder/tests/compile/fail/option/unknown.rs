use rejoinder::prelude::*;

#[tool(titel = "Shout")]
fn shout(word: String) -> String {
    word
}

fn main() {}
