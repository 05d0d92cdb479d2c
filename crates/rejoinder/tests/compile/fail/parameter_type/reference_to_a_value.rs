// 8:16: a tool owns its parameters: write `User` instead of `&User`, or fill it from a resolver with `#[resolve(function)]`
use rejoinder::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct User;

#[tool]
fn greet(user: &User) -> String {
    let User = user;
    "Hello".to_owned()
}

fn main() {}
