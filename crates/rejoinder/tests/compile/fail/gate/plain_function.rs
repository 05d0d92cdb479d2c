// 8:36: `enabled` does not name a gate
use rejoinder::prelude::*;

fn is_admin() -> bool {
    true
}

#[resource("text://log", enabled = is_admin)]
async fn log() -> &'static str {
    "all is well"
}

fn main() {
    let _ = resources![log];
}
