// 5:26: `String` cannot be injected
use rejoinder::prelude::*;

#[tool]
fn greet(#[inject] name: String) -> String {
    name
}

fn main() {}
