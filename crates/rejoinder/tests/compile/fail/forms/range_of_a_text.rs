// 6:14: this option is for numbers, and `Option<String>` is not one
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min = 3)]
    name: Option<String>,
}

fn main() {}
