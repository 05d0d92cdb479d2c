// 6:14: this option is for strings, and `bool` is not one
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(format = "email")]
    email: bool,
}

fn main() {}
