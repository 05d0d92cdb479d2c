// 15:23: this pipe takes a `u32`, but the one before it makes a `String`
use rejoinder::prelude::*;

#[pipe]
fn trim(text: String) -> String {
    text.trim().to_owned()
}

#[pipe]
fn even(number: u32) -> u32 {
    number / 2 * 2
}

#[tool]
fn twice(#[pipe(trim, even)] number: u32) -> u32 {
    2 * number
}

fn main() {}
