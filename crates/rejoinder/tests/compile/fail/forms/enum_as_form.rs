// 5:6: a form must be a struct; for a choice, derive `ElicitEnum` and use it as a field
use rejoinder::prelude::*;

#[derive(Elicit)]
enum Colour {
    Red,
    Green,
}

fn main() {}
