use rejoinder::prelude::*;

#[resolver]
fn confirm(#[resolve(confirm)] again: u8) -> u8 {
    again
}

fn main() {}
