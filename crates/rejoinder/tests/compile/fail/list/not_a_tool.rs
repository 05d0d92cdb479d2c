// 9:20: expected type, found function `shout`
use rejoinder::prelude::*;

fn shout(word: String) -> String {
    word
}

fn main() {
    let _ = tools![shout];
}
