// 5:26: the server supplies this parameter, but the URI has a variable `db`: rename one of the two
use rejoinder::prelude::*;

#[resource("notes://{id}/{db}")]
fn notes(id: String, db: Dep<String>) -> String {
    format!("{id} {db:?}")
}

fn main() {
    let _ = resources![notes];
}
