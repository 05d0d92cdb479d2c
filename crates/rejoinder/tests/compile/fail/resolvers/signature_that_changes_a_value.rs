// 10:36: this parameter cannot take what its resolver makes, a `u8`
use rejoinder::prelude::*;

#[resolver]
fn size() -> u8 {
    3
}

#[resolver]
fn changing(#[resolve(size)] size: Option<&mut u8>) -> u8 {
    size.map_or(0, |size| *size)
}

fn main() {}
