// 9:12: a tool takes `&self`, because the server keeps the value in an `Arc` for all calls: keep what must be cloned in an `Arc` field
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(self: std::sync::Arc<Self>) {}
}

fn main() {}
