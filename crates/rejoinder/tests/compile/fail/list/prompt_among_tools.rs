// 10:20: `shout` is not a tool
use rejoinder::prelude::*;

#[prompt]
fn shout(word: String) -> String {
    word
}

fn main() {
    let _ = tools![shout];
}
