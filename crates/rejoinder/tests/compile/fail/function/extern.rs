// 5:1: a tool cannot be `extern`: remove it
use rejoinder::prelude::*;

#[tool]
extern "C" fn one() -> i64 {
    1
}

fn main() {}
