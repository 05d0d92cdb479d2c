// 6:14: this option is not for the type `u8`, which is not a string
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min_length = 3)]
    age: u8,
}

fn main() {}
