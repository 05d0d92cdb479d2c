use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(defualt = 1)] a: i64) -> i64 {
    a
}

fn main() {}
