// 7:11: `Option<Vec<String>>` cannot be a field of a form
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Tags {
    #[elicit(default = ["a"])]
    tags: Option<Vec<String>>,
}

fn main() {}
