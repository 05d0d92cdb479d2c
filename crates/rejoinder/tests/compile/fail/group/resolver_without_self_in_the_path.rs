// 9:29: `#[resolve(..)]` does not name a resolver
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(&self, #[resolve(price)] price: u8) -> u8 {
        price
    }

    #[resolver]
    fn price(&self) -> u8 {
        1
    }
}

fn main() {}
