use rejoinder::prelude::*;

#[resource("notes://{}")]
fn notes() -> String {
    String::new()
}

fn main() {}
