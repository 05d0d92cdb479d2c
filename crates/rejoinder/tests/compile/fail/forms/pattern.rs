use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(pattern = "^[a-z+$")]
    name: String,
    #[elicit(pattern = "(?=a)b")]
    code: String,
}

fn main() {}
