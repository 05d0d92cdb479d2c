// 4:19: `ttl` is a whole number above 0 with its unit `ms`, `s`, `m` or `h`: `ttl = "2h"`
use rejoinder::prelude::*;

#[tool(task(ttl = "2 hours"))]
fn render() {}

fn main() {}
