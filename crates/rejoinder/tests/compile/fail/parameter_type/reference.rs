use rejoinder::prelude::*;

#[tool]
fn shout(word: &str) -> String {
    word.to_uppercase()
}

fn main() {}
