// 5:10: a tool has no lifetimes, because it owns its parameters: remove them
use rejoinder::prelude::*;

#[tool]
fn shout<'a>(word: String) -> String {
    word
}

fn main() {}
