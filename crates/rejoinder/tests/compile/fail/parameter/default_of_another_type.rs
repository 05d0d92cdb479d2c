use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(default = "one")] a: i64) -> i64 {
    a
}

fn main() {}
