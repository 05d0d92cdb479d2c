// 10:9: name functions marked `#[pipe]`, all in one list, without arguments: `#[pipe(first, second)]`
use rejoinder::prelude::*;

#[pipe]
fn clamp(value: u8) -> u8 {
    value.min(3)
}

#[tool]
fn show(#[pipe(clamp(3))] value: u8) -> u8 {
    value
}

fn main() {}
