use rejoinder::prelude::*;

#[resource("notes://{id}/{id}")]
fn notes(id: String) -> String {
    id
}

fn main() {}
