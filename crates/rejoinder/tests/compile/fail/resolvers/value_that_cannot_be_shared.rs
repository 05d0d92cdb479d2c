// 7:14: `Cell<usize>` cannot be the value of a resolver, which is shared by everything that takes it
use std::cell::Cell;

use rejoinder::prelude::*;

#[resolver]
fn size() -> Cell<usize> {
    Cell::new(3)
}

fn main() {}
