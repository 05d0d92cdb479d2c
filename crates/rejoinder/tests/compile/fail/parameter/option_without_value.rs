use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(default)] a: i64) -> i64 {
    a
}

fn main() {}
