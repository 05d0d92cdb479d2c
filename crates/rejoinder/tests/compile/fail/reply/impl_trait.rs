use rejoinder::prelude::*;

#[tool]
fn shout(word: String) -> impl Into<String> {
    word
}

fn main() {}
