// 5:9: a parameter needs a plain name: write `state: State<T>`, and use the value with `state.with(|value| ..)`
use rejoinder::prelude::*;

#[tool]
fn note(State(audit): State<Vec<String>>) {}

fn main() {}
