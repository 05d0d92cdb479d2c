// 6:11: `&'static str` cannot be a field of a form
use rejoinder::prelude::*;

#[derive(Elicit)]
struct Name {
    name: &'static str,
}

fn main() {}
