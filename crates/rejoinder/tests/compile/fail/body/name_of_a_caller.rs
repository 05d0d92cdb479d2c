// 6:12: a caller has a `subject()`, and whatever else its token says is a claim: `caller.claim("email")`
use rejoinder::prelude::*;

#[tool]
fn greet(caller: Principal) -> String {
    caller.name()
}

fn main() {}
