// 6:12: cannot find type `T` in this scope
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Answer<T> {
    value: T,
}

fn main() {}
