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
