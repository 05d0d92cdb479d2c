// 20:35: this parameter cannot take what its resolver makes, a `usize`
use rejoinder::prelude::*;

#[resolver]
fn size() -> usize {
    3
}

#[resolver]
fn who() -> Ask<Name> {
    Ask::user("Who?")
}

#[derive(Elicit, Clone)]
struct Name {
    name: String,
}

#[resolver]
fn doubled(#[resolve(size)] size: &u32) -> u32 {
    2 * size
}

fn main() {}
