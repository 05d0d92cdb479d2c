// 4:20: mismatched types
use rejoinder::prelude::*;

#[resolver(cache = 3)]
fn flag() -> u8 {
    0
}

fn main() {}
