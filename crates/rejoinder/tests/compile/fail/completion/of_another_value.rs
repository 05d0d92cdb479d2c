// 5:18: a completion function needs a `CompletionRequest` here, not a `String`
use rejoinder::prelude::*;

#[completion]
fn titles(typed: String) -> Vec<String> {
    vec![typed]
}

fn main() {}
