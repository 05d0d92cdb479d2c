// 12:1: the name `__rj_Shop_has_two_blocks_with_tools__write_handlers_tools_equals_more_tools` is defined multiple times
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
