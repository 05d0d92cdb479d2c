// 11:27: `complete = ..` does not name a completion function
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
