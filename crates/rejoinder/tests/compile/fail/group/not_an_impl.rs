// 5:1: `#[handlers]` goes on an `impl` block
use rejoinder::prelude::*;

#[handlers]
fn buy() -> String {
    String::new()
}

fn main() {}
