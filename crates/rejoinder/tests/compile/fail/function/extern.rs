use rejoinder::prelude::*;

#[tool]
extern "C" fn one() -> i64 {
    1
}

fn main() {}
