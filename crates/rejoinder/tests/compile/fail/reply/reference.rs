// 11:23: a tool returns an owned value: write `String` instead of `&str`
use rejoinder::prelude::*;

struct Shop {
    name: String,
}

#[handlers]
impl Shop {
    #[tool]
    fn name(&self) -> &str {
        &self.name
    }
}

fn main() {}
