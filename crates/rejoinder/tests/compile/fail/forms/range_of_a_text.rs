// 6:14: this option is not for the type `Option<std::string::String>`, which is not a number
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(min = 3)]
    name: Option<String>,
}

fn main() {}
