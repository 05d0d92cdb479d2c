// 5:16: a tool owns its parameters: write `String` instead of `&'static str`, or fill it from a resolver with `#[resolve(function)]`
use rejoinder::prelude::*;

#[tool]
fn greet(name: &'static str) -> String {
    format!("Hello, {name}!")
}

fn main() {}
