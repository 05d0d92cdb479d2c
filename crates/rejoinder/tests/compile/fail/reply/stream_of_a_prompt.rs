// 0:0: x
use rejoinder::prelude::*;

#[prompt]
fn review() -> ToolStream<String> {
    loop {}
}

fn main() {}
