// 15:18: `Shop::price` is a method: a function in a block is named within it, as `Self::name`
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
