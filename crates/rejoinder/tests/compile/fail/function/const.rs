// 5:1: a tool cannot be `const`: remove it
use rejoinder::prelude::*;

#[tool]
const fn one() -> i64 {
    1
}

fn main() {}
