use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    #[prompt]
    fn buy(&self) -> String {
        String::new()
    }
}

fn main() {}
