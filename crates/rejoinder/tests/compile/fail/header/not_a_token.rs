// 5:20: this cannot be the name of a header: give it one of letters, digits and `-`, `#[header("..")]`
use rejoinder::prelude::*;

#[tool]
fn whoami(#[header("x user")] user: String) -> String {
    user
}

fn main() {}
