// 5:8: a parameter needs a plain name, which is the argument's name: take it apart in the function
use rejoinder::prelude::*;

#[tool]
fn sum((a, b): (i64, i64)) -> i64 {
    a + b
}

fn main() {}
