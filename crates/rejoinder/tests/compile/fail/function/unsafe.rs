// 5:1: a tool cannot be `unsafe`, because clients choose its arguments
use rejoinder::prelude::*;

#[tool]
unsafe fn shout(word: String) -> String {
    word
}

fn main() {}
