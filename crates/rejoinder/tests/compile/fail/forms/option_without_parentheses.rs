// 6:7: write `#[elicit(title = ..)]`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit = "Your name"]
    name: String,
}

fn main() {}
