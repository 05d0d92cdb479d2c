use rejoinder::prelude::*;

struct Shop;

#[group]
impl Shop {
    #[tool]
    #[prompt]
    fn buy(&self) -> String {
        String::new()
    }
}

fn main() {}
