// 12:20: resolver `orders` (service_by_reference.rs:7) takes the tool's argument `shop: &Dep<Shop>`, but tool `count` has no arguments: add the argument to the tool, or use the name of the one that is meant; what the server supplies is taken without `&`
use rejoinder::prelude::*;

struct Shop(u32);

#[resolver]
fn orders(shop: &Dep<Shop>) -> u32 {
    shop.0
}

#[tool]
fn count(#[resolve(orders)] orders: u32) -> u32 {
    orders
}

fn main() {}
