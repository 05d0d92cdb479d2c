// 5:8: a parameter needs a name: it is the argument's name
use rejoinder::prelude::*;

#[tool]
fn sum(_: i64) -> i64 {
    0
}

fn main() {}
