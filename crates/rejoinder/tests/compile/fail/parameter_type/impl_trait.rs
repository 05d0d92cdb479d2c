// 5:16: a tool's parameter needs one type, which must be known: write it instead of `impl Trait`
use rejoinder::prelude::*;

#[tool]
fn shout(word: impl Into<String>) -> String {
    word.into().to_uppercase()
}

fn main() {}
