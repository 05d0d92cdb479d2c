//! What is used in any way is not reported as unused.

#![deny(warnings)]

use std::sync::Arc;

use rejoinder::{call::CompletionRequest, prelude::*};

#[tool(enabled = [is_open, is_paid])]
fn order(
    #[pipe(length)] name: u8,
    #[resolve(made::<u32>)] number: u32,
    #[resolve(confirm)] confirm: bool,
    #[header("x-user", default = 1)] user: u32,
    #[arg(default = 3, min = 1)] count: u8,
    ctx: Context,
) -> String {
    format!("{name} {number} {confirm} {user} {count} {:?}", ctx.era())
}

#[pipe]
fn length(name: String, #[resolve(is_open)] open: bool) -> u8 {
    u8::from(open) + u8::try_from(name.len()).unwrap_or(u8::MAX)
}

#[resolver]
fn is_open() -> bool {
    true
}

#[resolver]
fn is_paid() -> bool {
    true
}

#[resolver]
fn made<T: Default + Send + Sync + 'static>() -> T {
    T::default()
}

#[resolver]
fn confirm(name: &u8, count: u8) -> Ask<bool> {
    Ask::confirm(format!("{count} of {name}?"))
}

#[prompt]
fn review(#[arg(complete = paths)] path: String) -> String {
    path
}

#[completion]
fn paths(request: CompletionRequest) -> Vec<String> {
    vec![format!("{request:?}")]
}

#[resource("notes://{id}")]
fn note(id: String) -> String {
    id
}

/// Only called as a function.
#[tool]
fn called() -> u8 {
    1
}

mod shop {
    use rejoinder::prelude::*;

    pub struct Shop;

    #[handlers(prompts = all_prompts)]
    impl Shop {
        #[tool]
        fn buy(&self, #[resolve(Self::price)] price: u8) -> u8 {
            price
        }

        #[resolver]
        fn price(&self) -> u8 {
            1
        }

        #[prompt]
        fn praise(&self) -> String {
            String::new()
        }
    }

    /// For other crates.
    pub mod public {
        use rejoinder::prelude::*;

        #[tool]
        pub fn sell() {}
    }
}

fn main() {
    assert_eq!(called(), 1);
    let shop = Arc::new(shop::Shop);
    let server = Server::new("shop", "1").tools(tools![order, shop::public::sell]).prompts(prompts![review]);
    let server = server.resources(resources![note]).tools(shop.tools()).prompts(shop.all_prompts());
    assert!(server.check().is_ok());
}
