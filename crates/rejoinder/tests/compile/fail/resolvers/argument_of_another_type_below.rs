// 15:38: the argument is a `Option<u32>`, but a resolver takes it as a `u32`
use rejoinder::prelude::*;

#[resolver]
fn size(id: u32) -> u32 {
    id
}

#[resolver]
fn doubled(#[resolve(size)] size: &u32) -> u32 {
    2 * size
}

#[tool]
fn delete(id: Option<u32>, #[resolve(doubled)] size: u32) -> String {
    format!("{id:?} {size}")
}

fn main() {
    let _ = tools![delete];
}
