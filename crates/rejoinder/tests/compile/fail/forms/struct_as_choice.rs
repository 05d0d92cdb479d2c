// 5:8: a choice must be an enum; for a form, derive `Elicit`
use rejoinder::prelude::*;

#[derive(ElicitEnum)]
struct Colour {
    red: bool,
}

fn main() {}
