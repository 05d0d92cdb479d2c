//! In a group on a type with arguments, `Self` means the same wherever it is written.

#![deny(warnings)]

use std::sync::Arc;

use rejoinder::{prelude::*, call::CompletionRequest};

#[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Shop<T> {
    most: T,
}

#[handlers]
impl Shop<u32> {
    const MOST: u32 = 10;
    const TITLE: &'static str = "Buy";

    #[tool(title = Self::TITLE)]
    fn buy(&self, #[arg(default = Self::MOST)] count: u32, #[arg(default = Self::half(8))] other: u32) -> u32 {
        count + other
    }

    #[tool]
    fn compare(&self, #[arg(default = Self { most: Self::MOST })] shop: Self) -> bool {
        shop == *self
    }

    #[prompt]
    fn pitch(&self, #[arg(complete = Self::items)] item: String) -> String {
        item
    }

    /// Its bounds speak of `Self` too.
    #[resolver]
    fn made<T: From<Self> + Clone + Send + Sync>(&self) -> T
    where
        Self: Into<T>,
    {
        self.clone().into()
    }

    #[tool]
    fn most(&self, #[resolve(Self::made::<Most>)] most: Most) -> u32 {
        most.0
    }

    fn half(count: u32) -> u32 {
        count / 2
    }

    #[completion]
    async fn items(completing: CompletionRequest) -> Vec<String> {
        vec![completing.value]
    }
}

#[derive(Clone)]
struct Most(u32);

impl From<Shop<u32>> for Most {
    fn from(shop: Shop<u32>) -> Self {
        Self(shop.most)
    }
}

fn main() {
    let shop = Arc::new(Shop { most: 1 });
    let _ = (shop.tools(), shop.prompts());
}
