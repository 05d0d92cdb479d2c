// 5:26: `std::string::String` cannot be injected
use rejoinder::prelude::*;

#[tool]
fn greet(#[inject] name: String) -> String {
    name
}

fn main() {}
