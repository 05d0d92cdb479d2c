// 5:10: a resolver gets arguments that were checked: write the default and the constraints on the tool's parameter
use rejoinder::prelude::*;

#[resolver]
fn short(#[arg(max_length = 3)] word: &str) -> bool {
    word.is_empty()
}

fn main() {}
