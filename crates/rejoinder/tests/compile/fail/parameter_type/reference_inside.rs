use rejoinder::prelude::*;

#[tool]
fn shout(words: Option<&[String]>) -> String {
    words.unwrap_or_default().join(" ")
}

fn main() {}
