// 11:24: mismatched types
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
enum Colour {
    Red,
}

#[derive(Elicit)]
struct Paint {
    #[elicit(default = "one")]
    cans: u8,
    #[elicit(default = 1)]
    name: String,
    #[elicit(default = "Red")]
    colour: Colour,
}

fn main() {}
