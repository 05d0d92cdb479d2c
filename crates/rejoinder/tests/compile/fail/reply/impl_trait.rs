// 5:27: a tool's result needs one type, which must be known: write it instead of `impl Trait`
use rejoinder::prelude::*;

#[tool]
fn shout(word: String) -> impl Into<String> {
    word
}

fn main() {}
