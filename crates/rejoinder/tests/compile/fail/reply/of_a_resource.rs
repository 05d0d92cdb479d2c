use rejoinder::prelude::*;

#[resource("notes://count")]
fn notes() -> Option<String> {
    None
}

fn main() {}
