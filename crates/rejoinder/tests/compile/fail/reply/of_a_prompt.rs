// 5:26: a prompt cannot return `u32`
use rejoinder::prelude::*;

#[prompt]
fn review(lines: u32) -> u32 {
    lines
}

fn main() {}
