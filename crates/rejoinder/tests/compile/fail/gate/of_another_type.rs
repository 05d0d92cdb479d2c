// 9:20: `enabled` does not name a gate
use rejoinder::prelude::*;

#[resolver]
fn plan() -> String {
    "pro".to_owned()
}

#[prompt(enabled = plan)]
async fn greet() -> &'static str {
    "hello"
}

fn main() {
    let _ = prompts![greet];
}
