use rejoinder::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct User;

#[tool]
fn greet(user: &User) -> String {
    let User = user;
    "Hello".to_owned()
}

fn main() {}
