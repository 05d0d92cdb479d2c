// 12:16: `Self::buy` is a method: `#[handlers]` gives its type the method `tools()`, which is called on an `Arc`
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(&self) {}

    fn all() -> Vec<rejoinder::Tool> {
        tools![Self::buy]
    }
}

fn main() {}
