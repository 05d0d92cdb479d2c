// 4:12: a resource needs its URI first: `#[resource("notes://{id}")]`
use rejoinder::prelude::*;

#[resource(name = "notes")]
fn notes() -> String {
    String::new()
}

fn main() {}
