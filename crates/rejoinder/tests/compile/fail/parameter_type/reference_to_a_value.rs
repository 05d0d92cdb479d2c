// 8:16: a tool owns its arguments: fill it from a resolver with `#[resolve(function)]`, or write `User` instead of `&User`
use rejoinder::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct User;

#[tool]
fn greet(user: &User) -> String {
    let User = user;
    "Hello".to_owned()
}

fn main() {}
