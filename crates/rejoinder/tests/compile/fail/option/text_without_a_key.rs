// 4:8: `#[tool]` takes options such as `name = ..`: expected identifier
use rejoinder::prelude::*;

#[tool("shout")]
fn shout(word: String) -> String {
    word
}

fn main() {}
