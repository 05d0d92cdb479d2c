// 4:18: write `timeout = "30s"`
use rejoinder::prelude::*;

#[tool(timeout = 30)]
fn render() {}

fn main() {}
