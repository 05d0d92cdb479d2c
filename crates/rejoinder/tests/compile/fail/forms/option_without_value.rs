use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit(min_length)]
    name: String,
}

fn main() {}
