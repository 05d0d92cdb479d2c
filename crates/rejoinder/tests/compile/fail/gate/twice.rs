// 9:28: `enabled` is given twice: name all gates in one list, `enabled = [first, second]`
use rejoinder::prelude::*;

#[resolver]
fn is_admin() -> bool {
    true
}

#[tool(enabled = is_admin, enabled = is_admin)]
fn restart() {}

fn main() {}
