// 5:20: this cannot be the name of a header: it has letters, digits and `-`
use rejoinder::prelude::*;

#[tool]
fn whoami(#[header("x user")] user: String) -> String {
    user
}

fn main() {}
