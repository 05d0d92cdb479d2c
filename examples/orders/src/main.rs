//! Serves the orders in `orders.db`: `cargo run -p rejoinder-orders -- --http 127.0.0.1:8000`.

#[tokio::main]
async fn main() -> Result<(), rejoinder::BoxError> {
    let pool = orders::open("orders.db").await?;
    Ok(orders::server(pool).serve_from_args().await?)
}
