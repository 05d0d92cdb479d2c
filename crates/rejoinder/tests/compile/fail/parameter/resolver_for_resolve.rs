// 10:8: `resolver` on a parameter is not supported: write `#[arg(..)]`, `#[header]`, `#[inject]`, `#[pipe(..)]` or `#[resolve(function)]`, or put it on a type of your own
use rejoinder::prelude::*;

#[resolver]
fn price() -> u32 {
    1
}

#[tool]
fn buy(#[resolver(price)] price: u32) -> u32 {
    price
}

fn main() {}
