// 12:27: only the arguments of prompts and resources can be completed: remove `complete`
use rejoinder::prelude::*;

use rejoinder::call::CompletionRequest;

#[completion]
async fn words(_: CompletionRequest) -> Vec<String> {
    Vec::new()
}

#[tool]
fn shout(#[arg(complete = words)] word: String) -> String {
    word.to_uppercase()
}

fn main() {}
