// 5:16: `cfg` on a parameter is not supported: write two functions
use rejoinder::prelude::*;

#[tool]
fn sum(a: i64, #[cfg(windows)] b: i64) -> i64 {
    a
}

fn main() {}
