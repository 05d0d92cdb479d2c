// 6:27: mismatched types
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min_length = "three", max_length = -1)]
    name: String,
}

fn main() {}
