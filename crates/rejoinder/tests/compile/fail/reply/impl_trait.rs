// 5:27: name the type that the tool returns: its schema must be known
use rejoinder::prelude::*;

#[tool]
fn shout(word: String) -> impl Into<String> {
    word
}

fn main() {}
