// 5:15: a form cannot borrow: use owned types such as `String`
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Answer<'a> {
    value: &'a str,
}

fn main() {}
