use rejoinder::prelude::*;

#[derive(Elicit)]
struct Answer<T> {
    value: T,
}

fn main() {}
