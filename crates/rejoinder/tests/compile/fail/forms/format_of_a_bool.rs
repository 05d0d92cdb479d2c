// 6:14: this option is not for the type `bool`, which is not a string
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(format = "email")]
    email: bool,
}

fn main() {}
