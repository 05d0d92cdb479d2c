// 5:16: a tool owns its parameters: write `String` instead of `&str`, or fill it from a resolver with `#[resolve(function)]`
use rejoinder::prelude::*;

#[tool]
fn shout(word: &str) -> String {
    word.to_uppercase()
}

fn main() {}
