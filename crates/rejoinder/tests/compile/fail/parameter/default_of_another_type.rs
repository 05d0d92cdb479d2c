// 5:24: the trait bound `i64: From<&str>` is not satisfied
use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(default = "one")] a: i64) -> i64 {
    a
}

fn main() {}
