// 10:49: resolver `confirm` (cycle_of_one.rs:10) needs itself: remove this parameter
use rejoinder::prelude::*;

#[resolver]
fn sure() -> u8 {
    1
}

#[resolver]
fn confirm(#[resolve(sure)] sure: u8, #[resolve(confirm)] again: u8) -> u8 {
    sure + again
}

fn main() {}
