// 5:15: one attribute says where a parameter comes from: write all options in it, and remove the others
use rejoinder::prelude::*;

#[tool]
fn sum(#[arg] #[inject] a: i64) -> i64 {
    a
}

fn main() {}
