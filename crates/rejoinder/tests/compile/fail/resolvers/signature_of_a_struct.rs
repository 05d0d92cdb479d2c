// 10:1: `#[resolver]` goes on a function
use rejoinder::prelude::*;

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

#[resolver]
struct Size;

struct Shop;

fn main() {}
