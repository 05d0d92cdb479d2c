// 10:30: the argument is a `u64`, but a resolver takes it as a `String`
use rejoinder::prelude::*;

#[resolver]
fn size(id: &str) -> usize {
    id.len()
}

#[tool]
fn delete(id: u64, #[resolve(size)] size: usize) -> String {
    format!("{id} {size}")
}

fn main() {
    let _ = tools![delete];
}
