// 4:10: `#[prompt]` has no option `read_only`; the options are `name`, `title`, `description`, `icon`, `timeout`, `enabled`, `scopes`, `crate`
use rejoinder::prelude::*;

#[prompt(read_only)]
fn shout(word: String) -> String {
    word
}

fn main() {}
