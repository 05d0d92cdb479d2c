// 11:19: `#[resolve(..)]` does not name a resolver
use rejoinder::prelude::*;

mod path {
    pub fn path() -> String {
        String::new()
    }
}

#[tool]
fn read(#[resolve(path::path)] path: String) {
    let _ = path;
}

fn main() {}
