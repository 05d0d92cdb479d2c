use rejoinder::prelude::*;

#[tool(title = "Shout", title = "Cry")]
fn shout(word: String) -> String {
    word
}

fn main() {}
