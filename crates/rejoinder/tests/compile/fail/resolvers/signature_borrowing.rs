// 10:29: a resolver returns an owned value: write `String` instead of `&str`
use rejoinder::prelude::*;

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

#[resolver]
fn borrowing(path: &str) -> &str {
    path
}

struct Shop;

fn main() {}
