// 5:1: put `#[elicit(..)]` on a field of the form
use rejoinder::prelude::*;

#[derive(Elicit)]
#[elicit(title = "Your name")]
struct Name {
    name: String,
}

fn main() {}
