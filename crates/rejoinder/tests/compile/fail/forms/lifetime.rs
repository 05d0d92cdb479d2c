// 5:14: a form cannot borrow: remove the lifetime, and write `String` for `&str`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Answer<'a> {
    value: &'a str,
}

fn main() {}
