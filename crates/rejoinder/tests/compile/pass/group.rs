//! The valid counterparts of `fail/group`.

#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations)]

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rejoinder::{prelude::*, call::CompletionRequest};

#[derive(Debug)]
struct Shop(AtomicU32);

type Count = u32;

#[handlers]
impl Shop {
    /// `Self` means the same outside.
    const MOST: Count = 10;
    const TITLE: &'static str = "Most";

    #[tool]
    async fn buy(&self, #[arg(default = Self::MOST)] count: Count, ctx: Context) -> Result<Count, CallError> {
        ctx.info("bought").await;
        Ok(self.0.fetch_add(count, Ordering::Relaxed))
    }

    /// Of no receiver.
    #[rejoinder::tool(name = "max", title = Self::TITLE)]
    fn most() -> Count {
        Self::MOST
    }

    #[cfg(any())]
    #[tool]
    fn never(&self, never: Never) {}

    #[prompt]
    fn pitch(&self, #[arg(complete = Self::items)] item: String) -> String {
        item
    }

    #[resource("shop://{item}")]
    fn item(&self, item: String) -> String {
        item
    }

    #[completion]
    async fn items(completing: CompletionRequest) -> Vec<String> {
        vec![completing.value]
    }
}

#[derive(Debug)]
struct Store<T>(T);

#[handlers]
impl Store<u8> {
    #[tool]
    fn get(&self) -> u8 {
        self.0
    }
}

#[handlers]
impl Store<String> {
    #[tool]
    fn get(&self) -> String {
        self.0.clone()
    }
}

fn main() {
    let shop = Arc::new(Shop(AtomicU32::new(0)));
    assert_eq!(shop.tools().len(), 2);
    assert_eq!(shop.prompts().len() + shop.resources().len(), 2);
    let _ = (Arc::new(Store(1)).tools(), Arc::new(Store(String::new())).tools());
}
