// 6:12: the value of a `SessionState` is used in a closure: `state.with(|value| ..)`
use rejoinder::prelude::*;

#[tool]
fn count(login: SessionState<u32>) {
    *login.write() += 1;
}

fn main() {}
