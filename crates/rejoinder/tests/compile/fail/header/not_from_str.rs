// 7:29: `User` cannot be read from a header
use rejoinder::prelude::*;

struct User;

#[tool]
fn whoami(#[header] x_user: User) -> &'static str {
    let User = x_user;
    "somebody"
}

fn main() {}
