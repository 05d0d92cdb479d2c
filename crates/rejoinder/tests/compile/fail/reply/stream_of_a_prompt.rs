// 5:16: a prompt cannot return `rejoinder::ToolStream<String>`
use rejoinder::prelude::*;

#[prompt]
fn review() -> ToolStream<String> {
    loop {}
}

fn main() {}
