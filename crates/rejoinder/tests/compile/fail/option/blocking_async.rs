// 4:8: `blocking` is for a function that blocks its thread, so it cannot be `async`: remove one of the two
use rejoinder::prelude::*;

#[tool(blocking)]
async fn read() -> String {
    String::new()
}

fn main() {}
