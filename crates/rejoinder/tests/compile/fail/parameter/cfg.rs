// 5:16: `cfg` on a parameter is not supported: write `#[arg(..)]`, `#[header]`, `#[inject]`, `#[pipe(..)]` or `#[resolve(function)]`, or put it on a type of your own
use rejoinder::prelude::*;

#[tool]
fn sum(a: i64, #[cfg(windows)] b: i64) -> i64 {
    a
}

fn main() {}
