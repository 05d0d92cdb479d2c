// 13:29: `enabled` does not name a gate
use rejoinder::prelude::*;

#[resolver]
fn is_admin() -> bool {
    true
}

fn is_paid() -> bool {
    true
}

#[tool(enabled = [is_admin, is_paid])]
fn restart() {}

fn main() {}
