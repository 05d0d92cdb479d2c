// 4:8: write `task`, or `task(..)` with its options
use rejoinder::prelude::*;

#[tool(task = true)]
fn render() {}

fn main() {}
