// 9:5: a function is one of tool, prompt, resource, resolver, pipe and completion: remove one of the attributes
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
