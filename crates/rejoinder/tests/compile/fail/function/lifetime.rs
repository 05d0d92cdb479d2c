use rejoinder::prelude::*;

#[tool]
fn shout<'a>(word: String) -> String {
    word
}

fn main() {}
