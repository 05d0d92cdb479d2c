// 10:18: `#[resolve(..)]` does not name a resolver
// errors: 2
use rejoinder::prelude::*;

fn price() -> u8 {
    1
}

#[tool]
fn buy(#[resolve(price)] price: u8) -> u8 {
    price
}

#[tool]
fn sell(#[resolve(price)] price: &u8) -> u8 {
    *price
}

fn main() {}
