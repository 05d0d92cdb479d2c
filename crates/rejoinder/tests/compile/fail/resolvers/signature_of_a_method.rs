// 13:13: a resolver with `self` needs `#[handlers]` on the `impl` block around it
use rejoinder::prelude::*;

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

struct Shop;

impl Shop {
    #[resolver]
    fn size(&self) -> usize {
        3
    }
}

fn main() {}
