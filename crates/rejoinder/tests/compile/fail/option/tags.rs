// 4:15: mismatched types
use rejoinder::prelude::*;

#[tool(tags = "admin")]
async fn restart() {}

fn main() {
    let _ = tools![restart];
}
