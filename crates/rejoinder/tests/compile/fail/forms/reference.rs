use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    name: &'static str,
}

fn main() {}
