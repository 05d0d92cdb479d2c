// 6:7: write `#[elicit(description = ..)]`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit = "Your name"]
    name: String,
}

fn main() {}
