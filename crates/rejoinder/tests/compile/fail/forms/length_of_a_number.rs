// 6:14: this option is for strings, and `u8` is not one
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min_length = 3)]
    age: u8,
}

fn main() {}
