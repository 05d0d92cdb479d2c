// 7:35: `Db` cannot be an argument
use rejoinder::prelude::*;

struct Db;

#[tool]
async fn count(table: String, db: Db) -> String {
    let _ = db;
    table
}

fn main() {
    let _ = tools![count];
}
