use rejoinder::prelude::*;

#[tool]
fn shout<T: ToString>(word: T) -> String {
    word.to_string()
}

fn main() {}
