// 6:10: a resolver gets arguments that were checked: write the default and the constraints on the tool's parameter
// errors: 1
use rejoinder::prelude::*;

#[resolver]
fn price(#[arg(default = "tea")] item: &str) -> usize {
    item.len()
}

#[tool]
fn buy(item: String, #[resolve(price)] price: usize) -> usize {
    item.len() + price
}

#[tool]
fn sell(item: String, #[resolve(price)] price: &usize) -> usize {
    item.len() + price
}

fn main() {}
