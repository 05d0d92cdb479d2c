use rejoinder::prelude::*;

use rejoinder::Completing;

fn words(_: Completing) -> Vec<String> {
    Vec::new()
}

#[prompt]
fn shout(#[arg(complete = words)] word: String) -> String {
    word.to_uppercase()
}

fn main() {}
