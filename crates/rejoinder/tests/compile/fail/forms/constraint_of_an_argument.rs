// 6:5: a field of a form has `#[elicit(..)]`, with the constraints of `#[arg(..)]`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Order {
    #[arg(min = 1)]
    amount: u8,
}

fn main() {}
