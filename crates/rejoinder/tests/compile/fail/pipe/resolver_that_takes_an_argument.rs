// 10:35: resolver `length` (resolver_that_takes_an_argument.rs:5) takes the argument `word`, but a pipe runs before arguments can be taken by name: use a resolver that takes none, here and below
use rejoinder::prelude::*;

#[resolver]
fn length(word: &str) -> usize {
    word.len()
}

#[pipe]
fn padded(text: String, #[resolve(length)] length: usize) -> String {
    format!("{text:length$}")
}

fn main() {}
