// 5:19: a resolver's parameter needs one type, which must be known: write it instead of `impl Trait`
use rejoinder::prelude::*;

#[resolver]
fn anything(path: impl Into<String>) -> String {
    path.into()
}

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

struct Shop;

fn main() {}
