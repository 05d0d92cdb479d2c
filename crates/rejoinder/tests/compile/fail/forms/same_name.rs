// 8:5: this field has the name `name` in the answer, which `name` already has
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Person {
    name: String,
    #[elicit(name = "name")]
    nickname: String,
}

fn main() {}
