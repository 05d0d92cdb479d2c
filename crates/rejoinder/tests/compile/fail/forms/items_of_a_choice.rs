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
