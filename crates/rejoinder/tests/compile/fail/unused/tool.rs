// 7:4: function `buy` is never used
#![deny(dead_code)]

use rejoinder::prelude::*;

#[tool]
fn buy(item: String) -> String {
    item
}

fn main() {}
