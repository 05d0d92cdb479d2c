// 5:17: cannot find type `Strin` in this scope
use rejoinder::prelude::*;

#[tool]
fn count(table: Strin, map: HashMap<String, u8>) -> String {
    String::new()
}

fn main() {}
