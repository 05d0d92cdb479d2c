// 5:1: expected `impl`
use rejoinder::prelude::*;

#[handlers]
fn buy() -> String {
    String::new()
}

fn main() {}
