// 5:29: `&str` cannot be the default of an argument or header of type `u32`
use rejoinder::prelude::*;

#[tool]
fn retry(#[header(default = "three")] x_retries: u32) -> u32 {
    x_retries
}

fn main() {}
