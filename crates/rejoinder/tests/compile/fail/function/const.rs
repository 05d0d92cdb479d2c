use rejoinder::prelude::*;

#[tool]
const fn one() -> i64 {
    1
}

fn main() {}
