// 5:38: another parameter is already the argument `a`: rename one of the two
use rejoinder::prelude::*;

#[tool]
fn sum(a: i64, #[arg(name = "a")] b: i64) -> i64 {
    a + b
}

fn main() {}
