use rejoinder::prelude::*;

#[resource]
fn notes() -> String {
    String::new()
}

fn main() {}
