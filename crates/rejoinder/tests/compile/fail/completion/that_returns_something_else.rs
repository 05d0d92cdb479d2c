// 5:40: a completion function needs a `Vec<std::string::String>` here, not a `std::string::String`
use rejoinder::{call::CompletionRequest, prelude::*};

#[completion]
fn titles(typed: CompletionRequest) -> String {
    typed.value
}

fn main() {}
