use rejoinder::prelude::*;

#[derive(Elicit)]
struct Answer<'a> {
    value: &'a str,
}

fn main() {}
