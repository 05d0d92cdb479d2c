use rejoinder::prelude::*;

struct Id;

#[resource("notes://{id}")]
fn note(id: Id) -> String {
    let Id = id;
    String::new()
}

fn main() {
    let _ = resources![note];
}
