// 9:20: this does not name a `rejoinder::Tool`
use rejoinder::prelude::*;

fn shout(word: String) -> String {
    word
}

fn main() {
    let _ = tools![shout];
}
