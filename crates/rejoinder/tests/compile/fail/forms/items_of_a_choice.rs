// 11:14: this option is not for a field of type `Colour`, which is not a `Vec` of choices
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
