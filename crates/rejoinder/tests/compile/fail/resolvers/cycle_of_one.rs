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
