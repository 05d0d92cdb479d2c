// 6:11: a `State` has no `lock`: use its value in a closure, `state.with(|value| ..)`
use rejoinder::prelude::*;

#[tool]
fn note(audit: State<Vec<String>>) {
    audit.lock();
}

fn main() {}
