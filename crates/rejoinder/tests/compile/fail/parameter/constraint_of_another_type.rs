// 5:15: this option is for strings, and `u32` is not one
use rejoinder::prelude::*;

#[tool]
fn lend(#[arg(min_length = 1)] days: u32) -> u32 {
    days
}

fn main() {}
