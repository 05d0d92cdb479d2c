// 5:13: a resolver needs no named lifetimes: write `&str` and remove them
use rejoinder::prelude::*;

#[resolver]
fn lifetime<'a>(path: &'a str) -> usize {
    path.len()
}

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

struct Shop;

fn main() {}
