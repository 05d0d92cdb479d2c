// 5:19: resolver values are shared: take `&T` or `T`, not `&mut T`
use rejoinder::prelude::*;

#[resolver]
fn mutable(path: &mut String) -> usize {
    path.len()
}

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

struct Shop;

fn main() {}
