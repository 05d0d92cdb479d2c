// 5:17: a completion takes a `CompletionRequest` first, and owns its parameters: write `String` instead of `&str`
use rejoinder::prelude::*;

#[completion]
fn names(start: &str) -> Vec<String> {
    vec![start.to_owned()]
}

fn main() {}
