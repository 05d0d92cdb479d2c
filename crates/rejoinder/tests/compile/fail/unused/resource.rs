// 7:4: function `notes` is never used
#![deny(dead_code)]

use rejoinder::prelude::*;

#[resource("notes://all")]
fn notes() -> String {
    String::new()
}

fn main() {}
