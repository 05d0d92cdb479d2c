// 6:24: `pattern` is not a regular expression: non-empty character class has no closing bracket
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(pattern = "^[a-z+$")]
    name: String,
}

fn main() {}
