// 5:40: a completion function returns a `Vec<String>`, not a `std::string::String`
use rejoinder::{call::CompletionRequest, prelude::*};

#[completion]
fn titles(typed: CompletionRequest) -> String {
    typed.value
}

fn main() {}
