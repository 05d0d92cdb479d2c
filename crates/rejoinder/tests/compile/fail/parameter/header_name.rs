// 5:23: a header's name has letters, digits and `-`: this is the part after `Mcp-Param-`
use rejoinder::prelude::*;

#[tool]
fn sum(#[arg(header = "the number")] a: i64) -> i64 {
    a
}

fn main() {}
