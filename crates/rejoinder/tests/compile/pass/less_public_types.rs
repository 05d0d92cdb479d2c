//! What a function takes and returns may be less public than the function.

#![allow(private_interfaces, reason = "the compiler warns of this, and so it should")]

use rejoinder::prelude::*;

pub mod shop {
    use rejoinder::prelude::*;

    #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    struct Order {
        count: u8,
    }

    pub(crate) struct Stock;

    struct Price(u8);

    #[resolver]
    fn price(stock: Dep<Stock>) -> Price {
        let _ = stock;
        Price(1)
    }

    #[tool]
    pub fn buy(order: Order, stock: Dep<Stock>, #[resolve(price)] price: &Price) -> Json<Order> {
        let _ = (stock, price.0);
        Json(order)
    }
}

use shop::buy;

fn main() {
    let server = || Server::new("shop", "1").provide(shop::Stock);
    assert!(server().tools(tools![shop::buy]).check().is_ok());
    assert!(server().tools(tools![buy]).check().is_ok());
}
