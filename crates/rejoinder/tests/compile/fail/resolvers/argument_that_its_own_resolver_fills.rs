// 10:20: resolver `name` (argument_that_its_own_resolver_fills.rs:5) takes the tool's argument `name: &str`, but tool `greet` has `name: String` from resolver `name`: rename one of the two
use rejoinder::prelude::*;

#[resolver]
fn name(name: &str) -> String {
    name.to_owned()
}

#[tool]
fn greet(#[resolve(name)] name: String) -> String {
    name
}

#[resolver]
fn greeting(user: &str) -> String {
    format!("Hello {user}")
}

#[resolver]
fn user(#[resolve(greeting)] greeting: &str) -> String {
    greeting.to_owned()
}

fn main() {}
