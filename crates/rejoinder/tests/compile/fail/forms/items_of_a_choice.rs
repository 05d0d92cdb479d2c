// 11:14: this option is not for the type `Colour`, which is not a list
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
enum Colour {
    Red,
}

#[derive(Elicit)]
struct Paint {
    #[elicit(max_items = 2)]
    colour: Colour,
}

fn main() {}
