use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min = 3)]
    name: Option<String>,
}

fn main() {}
