// 5:14: `name` needs a value: `name = ".."`
use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(name)] a: i64) -> i64 {
    a
}

fn main() {}
