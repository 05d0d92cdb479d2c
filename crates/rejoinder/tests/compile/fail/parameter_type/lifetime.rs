// 7:20: a tool owns its parameters: use a type that borrows nothing
use rejoinder::prelude::*;

use std::borrow::Cow;

#[tool]
fn shout(word: Cow<'_, str>) -> String {
    word.to_uppercase()
}

fn main() {}
