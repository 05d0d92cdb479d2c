use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(format = "email")]
    email: bool,
}

fn main() {}
