// 10:17: the trait bound `Order: Clone` is not satisfied
use rejoinder::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    item: String,
}

#[resolver]
fn price(order: Order) -> usize {
    order.item.len()
}

#[tool]
fn buy(order: Order, #[resolve(price)] price: usize) -> String {
    format!("{} {price}", order.item)
}

fn main() {
    let _ = tools![buy];
}
