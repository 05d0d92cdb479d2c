// 5:33: `usize` cannot be injected
use rejoinder::prelude::*;

#[pipe]
fn padded(text: String, length: usize) -> String {
    format!("{text:length$}")
}

fn main() {}
