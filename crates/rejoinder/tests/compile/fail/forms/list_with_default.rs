use rejoinder::prelude::*;

#[derive(Elicit)]
struct Tags {
    #[elicit(default = ["a"])]
    tags: Option<Vec<String>>,
}

fn main() {}
