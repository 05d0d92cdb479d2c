// 6:24: `pattern` is not a regular expression: look-around is not supported
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(pattern = "(?=a)b")]
    code: String,
}

fn main() {}
