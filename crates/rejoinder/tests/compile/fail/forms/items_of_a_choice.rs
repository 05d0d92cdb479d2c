// 11:14: this option is for lists, and `Colour` is not one
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
