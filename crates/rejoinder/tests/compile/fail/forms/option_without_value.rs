// 6:14: `min_length` needs a value: `min_length = ..`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit(min_length)]
    name: String,
}

fn main() {}
