// 
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(&self) {}
}

#[handlers]
impl Shop {
    #[tool]
    fn sell(&self) {}
}

fn main() {}
