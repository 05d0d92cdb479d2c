use rejoinder::prelude::*;

#[tool]
fn greet(#[inject] name: String) -> String {
    name
}

fn main() {}
