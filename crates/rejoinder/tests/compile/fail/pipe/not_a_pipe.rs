// 9:17: `#[pipe(..)]` does not name a pipe
use rejoinder::prelude::*;

fn trim(text: String) -> String {
    text.trim().to_owned()
}

#[tool]
fn shout(#[pipe(trim)] word: String) -> String {
    word.to_uppercase()
}

fn main() {}
