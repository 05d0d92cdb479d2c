// 7:10: a variant of a choice cannot have data: use another field of the form
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
