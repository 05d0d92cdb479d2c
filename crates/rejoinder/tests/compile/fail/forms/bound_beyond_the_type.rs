// 6:20: literal out of range for `u8`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    #[elicit(max = 300)]
    age: u8,
}

fn main() {}
