// 6:14: `min_length` needs a value: `min_length = 3`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    #[elicit(min_length)]
    name: String,
}

fn main() {}
