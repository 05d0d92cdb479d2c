// 4:13: `task` has no option `requird`; did you mean `required`? the options are `required`, `ttl`, `poll`
use rejoinder::prelude::*;

#[tool(task(requird))]
fn render() {}

fn main() {}
