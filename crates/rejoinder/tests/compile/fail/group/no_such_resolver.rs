// 9:35: no function or associated item named `price` found for struct `Shop` in the current scope
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(&self, #[resolve(Self::price)] price: u8) -> u8 {
        price
    }
}

fn main() {}
