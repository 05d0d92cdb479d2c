// 4:10: `#[prompt]` has no option `task`; the options are `name`, `title`, `description`, `icon`, `timeout`, `enabled`, `scopes`, `crate`
use rejoinder::prelude::*;

#[prompt(task)]
fn render() -> &'static str { "" }

fn main() {}
