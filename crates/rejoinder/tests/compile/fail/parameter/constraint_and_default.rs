// 5:25: the default is more than `max`
use rejoinder::prelude::*;

#[tool]
fn lend(#[arg(default = 31, max = 30)] days: u8) -> u8 {
    days
}

fn main() {}
