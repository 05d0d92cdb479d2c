// 6:1: duplicate definitions with name `two_blocks_with_tools__write_handlers_tools_equals_more_tools`
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
