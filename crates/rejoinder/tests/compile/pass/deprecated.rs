//! What is deprecated is so for those who use it, not for what the macros write about it.

#![deny(warnings)]

use std::sync::Arc;

use rejoinder::prelude::*;

#[derive(ElicitEnum)]
pub enum Size {
    #[deprecated]
    Tiny,
    Small,
}

#[deprecated]
#[derive(ElicitEnum)]
pub enum OldSize {
    Small,
}

#[deprecated]
#[allow(deprecated)]
#[derive(Elicit)]
pub struct OldOrder {
    pub size: OldSize,
}

#[derive(Elicit)]
pub struct Order {
    pub size: Size,
    #[deprecated]
    pub note: Option<String>,
}

#[deprecated]
pub struct OldShop;

#[allow(deprecated)]
#[handlers]
impl OldShop {
    #[deprecated]
    #[tool]
    pub fn buy(&self) {}

    #[deprecated]
    #[resolver]
    pub fn price(&self) -> u32 {
        1
    }

    #[tool]
    pub fn sell(&self, #[resolve(Self::price)] price: u32) -> u32 {
        price
    }
}

#[allow(deprecated)]
fn main() {
    let _ = (Order::form(), Arc::new(OldShop).tools());
}
