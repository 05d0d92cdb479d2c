// 5:29: the trait bound `u32: From<&str>` is not satisfied
use rejoinder::prelude::*;

#[tool]
fn retry(#[header(default = "three")] x_retries: u32) -> u32 {
    x_retries
}

fn main() {}
