// 5:10: a tool cannot be generic, because its schema must be known: write the types out
use rejoinder::prelude::*;

#[tool]
fn shout<T: ToString>(word: T) -> String {
    word.to_string()
}

fn main() {}
