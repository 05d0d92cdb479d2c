// 5:4: a tool's name is 1 to 128 letters, digits, `_`, `-` and `.`: write `#[tool(name = "..")]`
use rejoinder::prelude::*;

#[tool]
fn größer(a: i64) -> i64 {
    a
}

fn main() {}
