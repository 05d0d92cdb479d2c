//! A type may have several groups, whose methods then have names of their own.

#![deny(warnings)]

use std::sync::Arc;

use rejoinder::prelude::*;

pub struct Shop;

#[handlers]
impl Shop {
    #[resolver]
    fn price(&self) -> u32 {
        3
    }

    #[tool]
    fn buy(&self) {}

    #[prompt]
    fn pitch(&self) -> String {
        String::new()
    }
}

#[handlers(tools = more_tools, prompts = more_prompts)]
impl Shop {
    #[tool]
    fn sell(&self, #[resolve(Self::price)] price: u32) -> u32 {
        price
    }

    #[prompt]
    fn praise(&self) -> String {
        String::new()
    }

    #[resource("shop://stock")]
    fn stock(&self) -> String {
        String::new()
    }
}

fn main() {
    let shop = Arc::new(Shop);
    let tools = shop.tools().into_iter().chain(shop.more_tools());
    let prompts = shop.prompts().into_iter().chain(shop.more_prompts());
    assert!(Server::new("shop", "1").tools(tools).prompts(prompts).resources(shop.resources()).check().is_ok());
}
