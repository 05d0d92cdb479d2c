// 12:17: `User` cannot be an argument
use rejoinder::prelude::*;

struct User;

#[pipe]
fn same(user: User) -> User {
    user
}

#[tool]
fn greet(#[pipe(same)] user: User) {
    let User = user;
}

fn main() {}
