// 5:15: this option is not for the type `u32`, which is not a string
use rejoinder::prelude::*;

#[tool]
fn lend(#[arg(min_length = 1)] days: u32) -> u32 {
    days
}

fn main() {}
