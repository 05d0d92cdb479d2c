// 4:12: `#[resolver]` has no option `kye`; the options are `key`, `cache`, `crate`
use rejoinder::prelude::*;

#[resolver(kye = "a")]
fn misspelt() -> u8 {
    0
}

fn main() {}
