// 5:40: a completion function needs a `Vec<String>` here, not a `String`
use rejoinder::{call::CompletionRequest, prelude::*};

#[completion]
fn titles(typed: CompletionRequest) -> String {
    typed.value
}

fn main() {}
