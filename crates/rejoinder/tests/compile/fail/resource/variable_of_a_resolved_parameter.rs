// 10:29: a resolver fills this parameter, but the URI has a variable `id`: rename one of the two
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
