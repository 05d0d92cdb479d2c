// 5:33: a pipe cannot take a `usize` beside its value
use rejoinder::prelude::*;

#[pipe]
fn padded(text: String, length: usize) -> String {
    format!("{text:length$}")
}

fn main() {}
