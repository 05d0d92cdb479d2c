// 4:15: `tags` is a list: `tags = ["admin"]`
use rejoinder::prelude::*;

#[tool(tags = "admin")]
async fn restart() {}

fn main() {
    let _ = tools![restart];
}
