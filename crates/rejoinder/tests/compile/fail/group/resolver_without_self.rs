// 14:29: `#[resolve(..)]` does not name a resolver
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[resolver]
    fn price(&self) -> u8 {
        1
    }

    #[tool]
    fn buy(&self, #[resolve(price)] price: u8) -> u8 {
        price
    }
}

fn main() {}
