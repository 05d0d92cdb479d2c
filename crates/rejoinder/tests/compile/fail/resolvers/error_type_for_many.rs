// 6:15: `std::io::Error` cannot be the error of a tool, prompt, resource or resolver
// errors: 2
use rejoinder::prelude::*;

#[resolver]
fn price() -> Result<u8, std::io::Error> {
    Ok(1)
}

#[tool]
fn buy(#[resolve(price)] price: u8) -> u8 {
    price
}

#[tool]
fn sell(#[resolve(price)] price: &u8) -> u8 {
    *price
}

fn main() {}
