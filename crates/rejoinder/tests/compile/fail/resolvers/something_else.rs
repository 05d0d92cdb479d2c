// 17:36: `#[resolve(..)]` does not name a resolver
//! What is not a resolver is reported once, and its types do not matter then.

use rejoinder::prelude::*;

fn load<T: Default>() -> Vec<T> {
    vec![T::default()]
}

struct Sizes {}

enum Size {}

const SIZE: usize = 3;

#[tool]
fn of_a_generic_function(#[resolve(load::<u8>)] all: Vec<u8>, #[resolve(load)] others: Vec<u8>) -> usize {
    all.len() + others.len()
}

fn main() {}
