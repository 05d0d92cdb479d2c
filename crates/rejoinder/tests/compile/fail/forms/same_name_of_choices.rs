// 8:5: this choice has the name `red` in the answer, which `Red` already has
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
#[elicit(rename_all = "lowercase")]
enum Colour {
    Red,
    RED,
}

fn main() {}
