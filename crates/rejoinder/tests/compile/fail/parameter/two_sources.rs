use rejoinder::prelude::*;

#[tool]
fn sum(#[arg] #[inject] a: i64) -> i64 {
    a
}

fn main() {}
