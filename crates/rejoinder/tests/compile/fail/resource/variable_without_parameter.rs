// 4:12: no parameter takes the variable `id`: add `id: String` to the function, or remove the variable from the URI
use rejoinder::prelude::*;

#[resource("notes://{id}")]
fn notes(note: Dep<String>) -> String {
    note.to_string()
}

fn main() {}
