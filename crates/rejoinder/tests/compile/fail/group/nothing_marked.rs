// 7:6: this block has nothing to offer: write `#[tool]`, `#[prompt]` or `#[resource(..)]` before a method
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    fn buy(&self) {}
}

fn main() {}
