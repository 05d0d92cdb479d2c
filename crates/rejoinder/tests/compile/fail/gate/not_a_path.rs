// 4:18: `enabled` names resolvers: `enabled = gate`, or `enabled = [first, second]`
use rejoinder::prelude::*;

#[tool(enabled = "is_admin")]
fn restart() {}

fn main() {}
