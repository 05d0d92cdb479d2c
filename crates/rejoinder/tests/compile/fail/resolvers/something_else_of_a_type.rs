// 17:24: `#[resolve(..)]` does not name a resolver
//! What is not a resolver is reported once, and its types do not matter then.

use rejoinder::prelude::*;

fn load<T: Default>() -> Vec<T> {
    vec![T::default()]
}

struct Sizes {}

enum Size {}

const SIZE: usize = 3;

#[tool]
fn of_a_type(#[resolve(Sizes)] sizes: usize, #[resolve(self::Size)] size: usize, #[resolve(u32)] number: usize) -> usize {
    size + sizes + number
}

fn main() {}
