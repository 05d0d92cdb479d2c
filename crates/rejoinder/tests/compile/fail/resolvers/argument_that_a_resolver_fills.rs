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
