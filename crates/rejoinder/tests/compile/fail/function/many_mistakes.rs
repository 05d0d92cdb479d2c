// 5:1: a tool cannot be `unsafe`, because clients choose its arguments
use rejoinder::prelude::*;

#[tool(titel = "Shout", read_only = "yes")]
unsafe fn shout<T>((a, b): (T, T), word: &str) -> &str {
    word
}

fn main() {
    let _ = tools![shout];
}
