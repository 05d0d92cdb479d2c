use rejoinder::prelude::*;

#[tool]
struct Shout;

fn main() {}
