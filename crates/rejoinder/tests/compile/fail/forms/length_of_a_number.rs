use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min_length = 3)]
    age: u8,
}

fn main() {}
