use rejoinder::prelude::*;

#[tool]
fn count(table: Strin, map: HashMap<String, u8>) -> String {
    String::new()
}

fn main() {}
