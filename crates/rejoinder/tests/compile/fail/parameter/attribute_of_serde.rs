// 5:9: `serde` on a parameter is not supported: write `#[arg(..)]`, `#[header]`, `#[inject]`, `#[pipe(..)]` or `#[resolve(function)]`, or put it on a type of your own
use rejoinder::prelude::*;

#[tool]
fn list(#[serde(default)] page: u32) -> u32 {
    page
}

fn main() {}
