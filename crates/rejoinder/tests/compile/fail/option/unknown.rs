// 4:8: `#[tool]` has no option `titel`; did you mean `title`? the options are `name`, `title`, `description`, `icon`, `timeout`, `enabled`, `scopes`, `read_only`, `destructive`, `idempotent`, `open_world`, `blocking`, `tags`, `task`, `crate`
use rejoinder::prelude::*;

#[tool(titel = "Shout")]
fn shout(word: String) -> String {
    word
}

fn main() {}
