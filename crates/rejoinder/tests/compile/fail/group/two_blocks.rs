// 6:1: duplicate definitions with name `tools`
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
