// 6:23: `max` is less than `min`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min = 5, max = -5)]
    age: i8,
    #[elicit(min_length = 5, max_length = 4)]
    name: String,
}

fn main() {}
