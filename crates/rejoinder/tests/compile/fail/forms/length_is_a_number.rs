// 6:27: `min_length` must be a whole number: `min_length = 3`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min_length = "three", max_length = -1)]
    name: String,
}

fn main() {}
