// 0:0: x
use rejoinder::prelude::*;

struct Row;

#[tool]
fn rows() -> ToolStream<Row> {
    loop {}
}

fn main() {}
