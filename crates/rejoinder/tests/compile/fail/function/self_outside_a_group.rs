use rejoinder::prelude::*;

struct Shop;

impl Shop {
    #[tool]
    fn buy(&self, item: String) -> String {
        item
    }
}

fn main() {}
