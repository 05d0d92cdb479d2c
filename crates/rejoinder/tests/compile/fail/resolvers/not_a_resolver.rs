// 10:21: `#[resolve(..)]` does not name a resolver
use rejoinder::prelude::*;

#[tool]
fn size() -> usize {
    3
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
