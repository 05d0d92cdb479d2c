// 20:22: resolver `greeting` (argument_that_another_resolver_fills.rs:10) takes the tool's argument `user: &str`, but tool `welcome` has `user: String` from resolver `user`: take it with `#[resolve(user)]`, or rename one of the two
use rejoinder::prelude::*;

#[resolver]
fn name(name: &str) -> String {
    name.to_owned()
}

#[resolver]
fn greeting(user: &str) -> String {
    format!("Hello {user}")
}

#[resolver]
fn user(#[resolve(greeting)] greeting: &str) -> String {
    greeting.to_owned()
}

#[tool]
fn welcome(#[resolve(user)] user: String) -> String {
    user
}

fn main() {}
