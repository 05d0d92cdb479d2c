//! Serves the orders in `orders.db`: `cargo run -p rejoinder-orders -- --http 127.0.0.1:8000`.

use std::sync::Arc;

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    orders::server("orders.db", Arc::new(orders::StandardError)).serve_from_args().await
}
