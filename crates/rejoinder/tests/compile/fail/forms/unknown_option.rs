use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit(titel = "Your name")]
    name: String,
}

fn main() {}
