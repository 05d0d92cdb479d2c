// 14:18: resolver `confirm` (that_asks.rs:5) asks, but a gate cannot ask: use a resolver that does not, here and below
use rejoinder::prelude::*;

#[resolver]
fn confirm() -> Ask<bool> {
    Ask::confirm("Are you an admin?")
}

#[resolver]
fn is_admin(#[resolve(confirm)] yes: bool) -> bool {
    yes
}

#[tool(enabled = is_admin)]
async fn restart() {}

fn main() {
    let _ = tools![restart];
}
