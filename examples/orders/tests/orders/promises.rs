//! The tools of the example, as a client sees them.

use orders::{Approval, Placed};
use rejoinder::testing::{Client, in_both_eras};
use serde_json::json;

use crate::database::Database;

async fn client() -> (Database, Client) {
    let database = Database::create().await;
    let client = Client::new(orders::server(database.pool.clone()));
    (database, client)
}

#[tokio::test]
async fn an_order_is_placed_and_taken_from_the_stock() {
    let (database, client) = client().await;
    in_both_eras(client, async |client| {
        let before = database.read("SELECT stock FROM items WHERE name = 'tea'").await;
        let reply = client.call_tool("place_order", json!({ "item": "tea", "quantity": 2 })).await.unwrap();
        let placed: Placed = reply.structured().unwrap();
        assert_eq!(placed.cents, 900);
        assert!(reply.asked.is_empty());
        assert_eq!(database.read("SELECT stock FROM items WHERE name = 'tea'").await, before - 2);
        assert_eq!(database.read("SELECT max(number) FROM orders").await, placed.number);
    })
    .await;
}

#[tokio::test]
async fn a_large_order_needs_approval() {
    let (database, client) = client().await;
    let kettles = json!({ "item": "kettle", "quantity": 20 });
    in_both_eras(client.clone().decline("approval"), async |client| {
        assert!(client.call_tool("place_order", kettles.clone()).await.unwrap().is_error());
    })
    .await;
    in_both_eras(client.clone().answer("approval", Approval { approved: false }), async |client| {
        let reply = client.call_tool("place_order", kettles.clone()).await.unwrap();
        assert_eq!(reply.text(), "the user did not approve the order");
    })
    .await;
    assert_eq!(database.read("SELECT stock FROM items WHERE name = 'kettle'").await, 30);
    let reply = client.answer("approval", Approval { approved: true }).call_tool("place_order", kettles).await.unwrap();
    assert_eq!(reply.asked, [["approval"]]);
    assert_eq!(database.read("SELECT stock FROM items WHERE name = 'kettle'").await, 10);
}

#[tokio::test]
async fn an_order_beyond_the_stock_leaves_the_stock_alone() {
    let (database, client) = client().await;
    in_both_eras(client.answer("approval", Approval { approved: true }), async |client| {
        let reply = client.call_tool("place_order", json!({ "item": "kettle", "quantity": 40 })).await.unwrap();
        assert_eq!(reply.text(), "there are fewer than 40 of `kettle`");
    })
    .await;
    assert_eq!(database.read("SELECT stock FROM items WHERE name = 'kettle'").await, 30);
    assert_eq!(database.orders_in_the_file().await, 0);
}
