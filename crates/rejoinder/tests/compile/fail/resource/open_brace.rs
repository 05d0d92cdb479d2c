use rejoinder::prelude::*;

#[resource("notes://{id")]
fn notes(id: String) -> String {
    id
}

fn main() {}
