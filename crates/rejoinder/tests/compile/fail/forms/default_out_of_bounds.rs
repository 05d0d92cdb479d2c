// 11:42: the default is more than `max`
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
enum Colour {
    Red,
}

#[derive(Elicit)]
struct Paint {
    #[elicit(min = 1, max = 3, default = 4)]
    cans: u8,
    #[elicit(min_length = 3, default = "ab")]
    name: String,
    #[elicit(pattern = "^[a-z]+$", default = "AB")]
    code: String,
    #[elicit(min_items = 2, default = [Colour::Red])]
    colours: Vec<Colour>,
}

fn main() {}
