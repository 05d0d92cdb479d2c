// 7:4: function `double` is never used
#![deny(dead_code)]

use rejoinder::prelude::*;

#[pipe]
fn double(number: u8) -> u8 {
    2 * number
}

fn main() {}
