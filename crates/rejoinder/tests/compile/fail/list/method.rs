// 15:51: `Shop::buy` is a method: `#[handlers]` gives its type the method `tools()`, which is called on an `Arc`
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(&self, count: u8) -> u8 {
        count
    }
}

fn main() {
    let _ = Server::new("shop", "1").tools(tools![Shop::buy]);
}
