// 5:24: a tool owns its parameters: write `Vec<String>` instead of `&[String]`, or fill it from a resolver with `#[resolve(function)]`
use rejoinder::prelude::*;

#[tool]
fn shout(words: Option<&[String]>) -> String {
    words.unwrap_or_default().join(" ")
}

fn main() {}
