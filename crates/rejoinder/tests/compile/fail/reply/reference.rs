use rejoinder::prelude::*;

struct Shop {
    name: String,
}

#[group]
impl Shop {
    #[tool]
    fn name(&self) -> &str {
        &self.name
    }
}

fn main() {}
