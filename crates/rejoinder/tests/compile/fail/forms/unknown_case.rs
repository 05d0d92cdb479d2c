use rejoinder::prelude::*;

#[derive(ElicitEnum)]
#[elicit(rename_all = "snakecase")]
enum Colour {
    Red,
}

fn main() {}
