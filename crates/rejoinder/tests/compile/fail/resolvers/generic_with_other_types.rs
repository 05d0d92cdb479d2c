// 17:26: `Rc<u8>` cannot be sent between threads safely
use std::rc::Rc;

use rejoinder::prelude::*;

#[resolver]
fn load<T: Default>() -> Vec<T> {
    vec![T::default()]
}

#[resolver]
fn filled<T: Copy + Default + Send + Sync, const N: usize>() -> [T; N] {
    [T::default(); N]
}

#[tool]
async fn count(#[resolve(load::<Rc<u8>>)] all: &[Rc<u8>]) -> usize {
    all.len()
}

fn main() {}
