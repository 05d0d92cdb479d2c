use rejoinder::prelude::*;

#[derive(Elicit)]
struct Large {
    number: u128,
}

fn main() {}
