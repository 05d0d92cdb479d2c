// 18:21: `#[resolve(..)]` does not name a resolver
//! A function of a module is not taken for the resolver of its name that is known here.

use rejoinder::prelude::*;

mod disk {
    pub fn size() -> usize {
        9
    }
}

#[resolver]
fn size() -> usize {
    3
}

#[tool]
fn delete(#[resolve(disk::size)] size: usize) {
    let _ = size;
}

fn main() {}
