// 5:16: a tool's parameter needs one type, not `impl Trait`: the argument's schema depends on it
use rejoinder::prelude::*;

#[tool]
fn shout(word: impl Into<String>) -> String {
    word.into().to_uppercase()
}

fn main() {}
