// 4:1: a resource needs its URI first: `#[resource("notes://{id}")]`
use rejoinder::prelude::*;

#[resource]
fn notes() -> String {
    String::new()
}

fn main() {}
