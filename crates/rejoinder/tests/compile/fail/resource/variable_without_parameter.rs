use rejoinder::prelude::*;

#[resource("notes://{id}")]
fn notes(note: Dep<String>) -> String {
    note.to_string()
}

fn main() {}
