use rejoinder::prelude::*;

use rejoinder::Completing;

async fn words(_: Completing) -> Vec<String> {
    Vec::new()
}

#[tool]
fn shout(#[arg(complete = words)] word: String) -> String {
    word.to_uppercase()
}

fn main() {}
