// 14:8: method `praise` is never used
#![deny(dead_code)]

use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(&self) {}

    #[prompt]
    fn praise(&self) -> String {
        String::new()
    }
}

fn main() {
    let _ = std::sync::Arc::new(Shop).tools();
}
