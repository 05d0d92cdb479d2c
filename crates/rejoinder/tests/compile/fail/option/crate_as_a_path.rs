// 4:16: write `crate = "path::to::rejoinder"`
use rejoinder::prelude::*;

#[tool(crate = rejoinder)]
fn show() {}

fn main() {}
