// 9:29: `#[resolve(..)]` names a function that is not a resolver
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
