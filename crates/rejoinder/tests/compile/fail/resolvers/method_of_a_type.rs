// 15:18: `Shop::price` is a method: only a function outside of `impl` blocks can be named here, so move it out of its block
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[resolver]
    fn price(&self) -> u8 {
        1
    }
}

#[tool]
fn buy(#[resolve(Shop::price)] price: u8) -> u8 {
    price
}

fn main() {}
