// 21:69: resolver `greeting` (argument_that_a_resolver_elsewhere_fills.rs:16) takes the tool's argument `name: &str`, but tool `of_another_module` has `name: String` from resolver `user`: take it with `#[resolve(..)]`, or rename one of the two
use std::sync::Arc;

use rejoinder::prelude::*;

mod auth {
    use rejoinder::prelude::*;

    #[resolver]
    pub fn user() -> String {
        "ada".to_owned()
    }
}

#[resolver]
fn greeting(name: &str) -> String {
    format!("Hello {name}")
}

#[tool]
fn of_another_module(#[resolve(auth::user)] name: String, #[resolve(greeting)] greeting: String) -> String {
    format!("{greeting} {name}")
}

#[resolver]
fn loaded<T: Default + Send + Sync>() -> T {
    T::default()
}

#[tool]
fn generic(#[resolve(loaded::<String>)] name: String, #[resolve(greeting)] greeting: String) -> String {
    format!("{greeting} {name}")
}

struct Desk;

#[handlers]
impl Desk {
    #[resolver]
    fn user(&self) -> String {
        "ada".to_owned()
    }

    #[tool]
    fn of_a_group(&self, #[resolve(Self::user)] name: String, #[resolve(greeting)] greeting: String) -> String {
        format!("{greeting} {name}")
    }
}

fn main() {
    let _ = (tools![of_another_module, generic], Arc::new(Desk).tools());
}
