// 9:12: a tool takes `&self`, because calls run at the same time: keep what changes in a `Mutex` or an atomic
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
