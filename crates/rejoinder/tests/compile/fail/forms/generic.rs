// 5:14: a form cannot be generic: write one for each type
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Answer<T> {
    value: T,
}

fn main() {}
