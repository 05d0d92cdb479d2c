use rejoinder::prelude::*;

#[derive(Elicit)]
enum Colour {
    Red,
    Green,
}

fn main() {}
