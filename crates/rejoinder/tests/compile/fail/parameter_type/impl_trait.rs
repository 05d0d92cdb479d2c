use rejoinder::prelude::*;

#[tool]
fn shout(word: impl Into<String>) -> String {
    word.into().to_uppercase()
}

fn main() {}
