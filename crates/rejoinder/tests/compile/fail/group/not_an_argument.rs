// 10:23: `Db` cannot be an argument
use rejoinder::prelude::*;

struct Db;
struct Shop;

#[handlers]
impl Shop {
    #[tool]
    fn buy(&self, db: Db) -> String {
        let _ = db;
        String::new()
    }
}

fn main() {
    let _ = std::sync::Arc::new(Shop).tools();
}
