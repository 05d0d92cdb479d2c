// 4:12: a URI begins with a scheme, such as `notes://`
use rejoinder::prelude::*;

#[resource("notes/{id}")]
fn note(id: String) -> String {
    id
}

fn main() {}
