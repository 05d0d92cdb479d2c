// 13:29: `#[resolve(..)]` does not name a resolver
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    fn price(&self) -> u32 {
        3
    }

    #[tool]
    fn buy(&self, #[resolve(Self::price)] price: u32) -> u32 {
        price
    }
}

fn main() {
    let _ = std::sync::Arc::new(Shop).tools();
}
