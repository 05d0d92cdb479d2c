use rejoinder::prelude::*;

struct Db;

#[prompt]
fn review(db: Db) -> String {
    let _ = db;
    String::new()
}

fn main() {}
