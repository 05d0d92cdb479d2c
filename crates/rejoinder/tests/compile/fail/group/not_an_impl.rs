use rejoinder::prelude::*;

#[handlers]
fn buy() -> String {
    String::new()
}

fn main() {}
