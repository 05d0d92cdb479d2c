use rejoinder::prelude::*;

#[tool]
unsafe fn shout(word: String) -> String {
    word
}

fn main() {}
