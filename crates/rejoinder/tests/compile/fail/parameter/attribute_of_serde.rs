// 5:9: `serde` on a parameter is not supported: write `#[arg(..)]`, or put it on a type of your own that the tool takes
use rejoinder::prelude::*;

#[tool]
fn list(#[serde(default)] page: u32) -> u32 {
    page
}

fn main() {}
