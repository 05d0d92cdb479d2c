// 7:11: `Vec<String>` cannot be a field of a form
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Tags {
    #[elicit(min_items = 1)]
    tags: Vec<String>,
}

fn main() {}
