// 5:14: this option is for strings, and `Vec<String>` is not one
use rejoinder::prelude::*;

#[tool]
fn tag(#[arg(min_length = 1)] tags: Vec<String>) -> usize {
    tags.len()
}

fn main() {}
