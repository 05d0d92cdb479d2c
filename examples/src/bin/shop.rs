//! `#[handlers]`: a tool, a prompt and a resource that are methods of one value.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

struct Shop {
    stock: AtomicU32,
}

/// The stock.
#[derive(Serialize, JsonSchema)]
struct Stock {
    /// The number of things left
    left: u32,
}

#[handlers]
impl Shop {
    /// Buy something.
    #[tool]
    async fn buy(
        &self,
        /// The number of things
        #[arg(default = 1)]
        count: u32,
    ) -> Result<Json<Stock>, CallError> {
        let taken = self.stock.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |stock| stock.checked_sub(count));
        match taken {
            Ok(before) => Ok(Json(Stock { left: before - count })),
            Err(left) => Err(CallError::new(format!("only {left} are left: buy fewer"))),
        }
    }

    /// Praise the shop.
    #[prompt]
    async fn praise(&self) -> String {
        format!("Praise a shop that has {} things left.", self.stock.load(Ordering::Relaxed))
    }

    /// The stock.
    #[resource("shop://stock")]
    async fn left(&self) -> Json<Stock> {
        Json(Stock { left: self.stock.load(Ordering::Relaxed) })
    }
}

fn server() -> Server {
    let shop = Arc::new(Shop { stock: AtomicU32::new(10) });
    Server::new("shop", "1.0.0").tools(shop.tools()).prompts(shop.prompts()).resources(shop.resources())
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::testing::Client;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn buying_reduces_the_stock() {
        let client = Client::new(server());
        let reply = client.call_tool("buy", json!({ "count": 3 })).await.unwrap();
        assert_eq!(reply.result.structured_content, Some(json!({ "left": 7 })));
        assert_eq!(client.read_resource("shop://stock").await.unwrap().text(), r#"{"left":7}"#);
        assert_eq!(
            client.get_prompt("praise", json!({})).await.unwrap().text(),
            "Praise a shop that has 7 things left."
        );
        assert_eq!(client.call_tool("buy", json!({ "count": 8 })).await.unwrap().text(), "only 7 are left: buy fewer");
    }
}
