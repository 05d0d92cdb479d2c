use rejoinder::prelude::*;

#[prompt(read_only)]
fn shout(word: String) -> String {
    word
}

fn main() {}
