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
