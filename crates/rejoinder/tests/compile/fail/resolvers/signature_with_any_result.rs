// 5:16: a resolver's result needs one type, which must be known: write it instead of `impl Trait`
use rejoinder::prelude::*;

#[resolver]
fn hidden() -> impl Send {}

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

struct Shop;

fn main() {}
