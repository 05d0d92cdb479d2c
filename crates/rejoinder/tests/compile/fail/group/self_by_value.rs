use rejoinder::prelude::*;

struct Shop(u32);

#[handlers]
impl Shop {
    #[tool]
    fn buy(self) -> u32 {
        self.0
    }
}

fn main() {}
