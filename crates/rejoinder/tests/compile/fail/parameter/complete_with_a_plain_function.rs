// 11:27: `fn(CompletionRequest) -> Vec<std::string::String> {words}` does not complete an argument
use rejoinder::prelude::*;

use rejoinder::call::CompletionRequest;

fn words(_: CompletionRequest) -> Vec<String> {
    Vec::new()
}

#[prompt]
fn shout(#[arg(complete = words)] word: String) -> String {
    word.to_uppercase()
}

fn main() {}
