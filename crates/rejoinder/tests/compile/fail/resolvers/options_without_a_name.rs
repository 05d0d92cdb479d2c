// 5:8: name the resolver: `#[resolve(function)]`
use rejoinder::prelude::*;

#[tool]
fn sum(#[resolve] a: u8, #[resolve(flag)] #[arg] b: u8, #[resolve(flag())] c: u8) -> u8 {
    a + b + c
}

fn main() {}
