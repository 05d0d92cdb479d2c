// 5:8: a parameter needs a plain name: write for example `value`, which is the argument's name, and take it apart in the function
use rejoinder::prelude::*;

#[tool]
fn sum(_: i64) -> i64 {
    0
}

fn main() {}
