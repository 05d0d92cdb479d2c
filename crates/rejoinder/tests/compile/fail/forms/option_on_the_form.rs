use rejoinder::prelude::*;

#[derive(Elicit)]
#[elicit(title = "Your name")]
struct Name {
    name: String,
}

fn main() {}
