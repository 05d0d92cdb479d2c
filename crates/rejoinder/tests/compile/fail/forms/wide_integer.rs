// 6:13: `u128` cannot be a field of a form
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Large {
    number: u128,
}

fn main() {}
