// 7:14: `Row` cannot be an item of a `ToolStream`
use rejoinder::prelude::*;

struct Row;

#[tool]
fn rows() -> ToolStream<Row> {
    loop {}
}

fn main() {}
