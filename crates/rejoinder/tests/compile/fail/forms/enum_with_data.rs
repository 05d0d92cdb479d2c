use rejoinder::prelude::*;

#[derive(ElicitEnum)]
enum Colour {
    Red,
    Other(String),
    Mixed { red: u8 },
}

#[derive(Elicit)]
struct Paint {
    colour: Colour,
}

fn main() {}
