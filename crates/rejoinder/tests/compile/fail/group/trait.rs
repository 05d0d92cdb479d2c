// 11:6: `#[handlers]` goes on the `impl` block of a type, not of a trait
use rejoinder::prelude::*;

struct Shop;

trait Sells {
    fn buy(&self) -> String;
}

#[handlers]
impl Sells for Shop {
    #[tool]
    fn buy(&self) -> String {
        String::new()
    }
}

fn main() {}
