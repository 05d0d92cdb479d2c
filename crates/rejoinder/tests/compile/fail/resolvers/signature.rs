// 5:13: a resolver needs no named lifetimes: write `&str` and remove them
use rejoinder::prelude::*;

#[resolver]
fn lifetime<'a>(path: &'a str) -> usize {
    path.len()
}

#[resolver]
fn anything(path: impl Into<String>) -> String {
    path.into()
}

#[resolver]
fn hidden() -> impl Send {}

#[resolver]
fn pair((a, b): (u8, u8)) -> u8 {
    a + b
}

#[resolver]
fn mutable(path: &mut String) -> usize {
    path.len()
}

#[resolver]
fn changing(#[resolve(pair)] pair: Option<&mut u8>) -> usize {
    pair.map_or(0, |pair| usize::from(*pair))
}

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

#[resolver]
fn borrowing(path: &str) -> &str {
    path
}

#[resolver]
struct Size;

struct Shop;

impl Shop {
    #[resolver]
    fn size(&self) -> usize {
        3
    }
}

fn main() {}
