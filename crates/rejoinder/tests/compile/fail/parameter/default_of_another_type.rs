// 5:24: `&str` cannot be the default of an argument or header of type `i64`
use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(default = "one")] a: i64) -> i64 {
    a
}

fn main() {}
