// 5:10: a tool cannot be generic: write types out that borrow nothing, and remove this
use rejoinder::prelude::*;

#[tool]
fn shout<'a>(word: String) -> String {
    word
}

fn main() {}
