use rejoinder::prelude::*;

#[derive(ElicitEnum)]
struct Colour {
    red: bool,
}

fn main() {}
