// 5:12: a resolver gets arguments that were checked: write the default and the constraints on the tool's parameter
use rejoinder::prelude::*;

#[resolver]
fn default(#[arg(default = 3)] n: u8, #[arg(header = "N")] m: u8) -> u8 {
    n + m
}

fn main() {}
