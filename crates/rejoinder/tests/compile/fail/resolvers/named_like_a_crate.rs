// 16:20: `serde` is ambiguous
use rejoinder::prelude::*;

#[resolver]
fn serde() -> u8 {
    1
}

#[resolver]
fn tokio() -> u8 {
    1
}

/// The first is the mistake: `use serde` could mean the crate.
#[tool]
fn first(#[resolve(serde)] serde: u8, #[resolve(self::tokio)] tokio: u8) -> u8 {
    serde + tokio
}

fn main() {}
