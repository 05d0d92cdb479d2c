// 5:15: a resource cannot return `Option<String>`
use rejoinder::prelude::*;

#[resource("notes://count")]
fn notes() -> Option<String> {
    None
}

fn main() {}
