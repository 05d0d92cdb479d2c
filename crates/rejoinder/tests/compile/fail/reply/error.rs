// 7:19: `Failed` cannot be the error of a tool, prompt, resource or resolver
use rejoinder::prelude::*;

struct Failed;

#[tool]
fn sum(a: i64) -> Result<i64, Failed> {
    if a > 0 { Ok(a) } else { Err(Failed) }
}

fn main() {}
