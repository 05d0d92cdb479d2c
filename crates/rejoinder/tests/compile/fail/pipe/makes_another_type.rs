// 10:32: the parameter is a `u32`, but its last pipe makes a `String`
use rejoinder::prelude::*;

#[pipe]
fn trim(text: String) -> String {
    text.trim().to_owned()
}

#[tool]
fn twice(#[pipe(trim)] number: u32) -> u32 {
    2 * number
}

fn main() {}
