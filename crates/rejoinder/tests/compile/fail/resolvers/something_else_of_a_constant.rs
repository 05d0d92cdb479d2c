// 17:28: `#[resolve(..)]` does not name a resolver
//! What is not a resolver is reported once, and its types do not matter then.

use rejoinder::prelude::*;

fn load<T: Default>() -> Vec<T> {
    vec![T::default()]
}

struct Sizes {}

enum Size {}

const SIZE: usize = 3;

#[resolver]
fn of_a_constant(#[resolve(SIZE)] size: usize) -> usize {
    size
}

fn main() {}
