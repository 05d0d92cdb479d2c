// 8:12: a tool with `self` needs `#[handlers]` on the `impl` block around it
use rejoinder::prelude::*;

struct Shop;

impl Shop {
    #[tool]
    fn buy(&self, item: String) -> String {
        item
    }
}

fn main() {}
