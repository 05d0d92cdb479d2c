use rejoinder::prelude::*;

#[resource("notes://{id}/{db}")]
fn notes(id: String, db: Dep<String>) -> String {
    format!("{id} {db:?}")
}

fn main() {
    let _ = resources![notes];
}
