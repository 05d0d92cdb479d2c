// 8:36: `#[resolve(..)]` does not name a resolver
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
