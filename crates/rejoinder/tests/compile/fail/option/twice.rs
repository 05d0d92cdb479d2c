// 4:25: `title` is given twice
use rejoinder::prelude::*;

#[tool(title = "Shout", title = "Cry")]
fn shout(word: String) -> String {
    word
}

fn main() {}
