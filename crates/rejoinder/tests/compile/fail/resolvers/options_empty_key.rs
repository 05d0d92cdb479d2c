// 4:18: a key cannot be empty
use rejoinder::prelude::*;

#[resolver(key = "")]
fn nameless() -> u8 {
    0
}

fn main() {}
