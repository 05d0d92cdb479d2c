use rejoinder::prelude::*;

#[resolver]
fn newest() -> String {
    "1".to_owned()
}

#[resource("notes://{id}")]
fn notes(#[resolve(newest)] id: String) -> String {
    id
}

fn main() {}
