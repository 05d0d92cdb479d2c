// 5:10: a tool cannot be generic: write types out that borrow nothing, and remove this
use rejoinder::prelude::*;

#[tool]
fn shout<T: ToString>(word: T) -> String {
    word.to_string()
}

fn main() {}
