use rejoinder::prelude::*;

#[group]
fn buy() -> String {
    String::new()
}

fn main() {}
