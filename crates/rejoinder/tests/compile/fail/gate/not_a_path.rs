// 4:18: `enabled` names a resolver, `enabled = gate`, or several that must all be open, `enabled = [first, second]`
use rejoinder::prelude::*;

#[tool(enabled = "is_admin")]
fn restart() {}

fn main() {}
