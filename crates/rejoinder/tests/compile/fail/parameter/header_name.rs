use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(header = "the number")] a: i64) -> i64 {
    a
}

fn main() {}
