use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    #[resolver]
    fn price(&self) -> u32 {
        1
    }
}

fn main() {}
