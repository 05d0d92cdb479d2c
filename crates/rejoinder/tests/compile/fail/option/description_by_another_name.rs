// 4:8: `#[tool]` has no option `desc`; did you mean `description`? the options are `name`, `title`, `description`, `icon`, `timeout`, `enabled`, `scopes`, `read_only`, `destructive`, `idempotent`, `open_world`, `blocking`, `tags`, `task`, `crate`
use rejoinder::prelude::*;

#[tool(desc = "Shows it.")]
fn show() {}

fn main() {}
