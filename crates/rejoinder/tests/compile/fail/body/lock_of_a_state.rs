// 6:11: the value of a `State` is used in a closure: `state.with(|value| ..)`
use rejoinder::prelude::*;

#[tool]
fn note(audit: State<Vec<String>>) {
    audit.lock().unwrap().clear();
}

fn main() {}
