// 7:4: function `praise` is never used
#![deny(dead_code)]

use rejoinder::prelude::*;

#[prompt]
fn praise(item: String) -> String {
    item
}

fn main() {}
