// 5:9: a parameter needs a plain name: write for example `value`, which is the argument's name, and take it apart in the function
use rejoinder::prelude::*;

#[resolver]
fn pair((a, b): (u8, u8)) -> u8 {
    a + b
}

#[resolver]
fn inside(path: Option<&str>) -> usize {
    path.map_or(0, str::len)
}

struct Shop;

fn main() {}
