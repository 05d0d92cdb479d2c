// 6:13: use of undeclared lifetime name `'a`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Answer<'a> {
    value: &'a str,
}

fn main() {}
