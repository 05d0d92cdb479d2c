// 10:20: this function is not a `rejoinder::Tool`
use rejoinder::prelude::*;

#[prompt]
fn shout(word: String) -> String {
    word
}

fn main() {
    let _ = tools![shout];
}
