// 15:51: resolver `greeting` (argument_that_a_resolver_fills.rs:10) takes the tool's argument `name: &str`, but tool `greet` has `name: String` from resolver `user`: take it with `#[resolve(user)]`, or rename one of the two
use rejoinder::prelude::*;

#[resolver]
fn user() -> String {
    "ada".to_owned()
}

#[resolver]
fn greeting(name: &str) -> String {
    format!("Hello {name}")
}

#[tool]
fn greet(#[resolve(user)] name: String, #[resolve(greeting)] greeting: String) -> String {
    format!("{greeting} {name}")
}

fn main() {
    let _ = tools![greet];
}
