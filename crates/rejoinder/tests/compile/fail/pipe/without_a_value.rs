// 5:4: a pipe takes a value: make it the first parameter
use rejoinder::prelude::*;

#[pipe]
fn nothing() -> String {
    String::new()
}

fn main() {}
