// 10:34: this parameter cannot take what its resolver makes, a `u32`
use rejoinder::prelude::*;

#[resolver]
fn size() -> u32 {
    3
}

#[tool]
fn delete(#[resolve(size)] size: Option<u64>) -> String {
    format!("{size:?}")
}

fn main() {}
