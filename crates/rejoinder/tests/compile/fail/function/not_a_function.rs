// 5:1: `#[tool]` goes on a function
use rejoinder::prelude::*;

#[tool]
struct Shout;

fn main() {}
