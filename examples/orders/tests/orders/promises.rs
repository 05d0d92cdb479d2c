//! What the tools of the example promise, as a client sees it.

use std::sync::{Arc, Mutex};

use orders::{Approval, Mailer, Placed};
use rejoinder::{
    BoxFuture,
    call::{BackgroundStatus, Era},
    testing::{Client, Transport, in_both_eras},
};
use serde_json::{Value, json};

use crate::database::Database;

/// Keeps what is sent.
#[derive(Default)]
struct Sent(Mutex<Vec<String>>);

impl Mailer for Sent {
    fn send<'a>(&'a self, to: &'a str, text: &'a str) -> BoxFuture<'a, Result<(), std::io::Error>> {
        Box::pin(async move {
            self.0.lock().unwrap().push(format!("{to}: {text}"));
            Ok(())
        })
    }
}

/// The server of the example, on a database of the test's own.
async fn shop() -> (Database, Arc<Sent>, Client) {
    let (database, sent) = (Database::create().await, Arc::<Sent>::default());
    let server = orders::server("not-opened.db", Arc::clone(&sent) as Arc<dyn Mailer>);
    let client = Client::new(server).replace(database.pool.clone());
    (database, sent, client)
}

fn tea(quantity: u32) -> Value {
    json!({ "customer": "ada@example.com", "item": "tea", "quantity": quantity })
}

const TEA: &str = "SELECT stock FROM items WHERE name = 'tea'";

#[tokio::test]
async fn l4_the_complete_example_runs_on_every_transport() {
    for transport in [Transport::Http, Transport::Stdio, Transport::WebSocket, Transport::Sse] {
        let (database, sent, client) = shop().await;
        in_both_eras(client.transport(transport), async |client| {
            let before = database.read(TEA).await;
            let reply = client.call_tool("place_order", tea(2)).await.unwrap();
            let placed: Placed = reply.structured().unwrap();
            assert_eq!(placed.cents, 900, "{transport:?}");
            assert_eq!(database.read(TEA).await, before - 2, "{transport:?}");
            assert_eq!(database.read("SELECT max(number) FROM orders").await, placed.number, "{transport:?}");
            assert_eq!(reply.background.finished().await, [BackgroundStatus::Succeeded], "{transport:?}");
            let mail = format!("ada@example.com: We have your order {}.", placed.number);
            assert_eq!(sent.0.lock().unwrap().pop(), Some(mail), "{transport:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn u3_1_an_order_whose_commit_fails_sends_no_mail() {
    let (database, sent, client) = shop().await;
    // Somebody deletes the customer while the order is placed.
    let deletes = "CREATE TRIGGER gone AFTER INSERT ON orders BEGIN DELETE FROM customers WHERE number = 1; END";
    sqlx::query(deletes).execute(&database.pool).await.unwrap();
    in_both_eras(client, async |client| {
        let reply = client.call_tool("place_order", tea(1)).await.unwrap();
        assert!(reply.is_error(), "{}", reply.text());
        assert_eq!(reply.background.finished().await, [BackgroundStatus::Cancelled]);
    })
    .await;
    assert_eq!((database.read(TEA).await, database.read("SELECT count(*) FROM orders").await), (1000, 0));
    assert!(sent.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn constraints_are_in_the_schema_and_all_that_fail_are_reported() {
    let (database, _, client) = shop().await;
    let tools = client.list_tools().await.unwrap();
    let properties = &tools[0].input_schema["properties"];
    assert_eq!(properties["customer"]["format"], "email");
    assert_eq!((&properties["quantity"]["minimum"], &properties["quantity"]["maximum"]), (&json!(1), &json!(100)));
    in_both_eras(client, async |client| {
        let arguments = json!({ "customer": "ada", "item": "TEA", "quantity": 101 });
        let reply = client.call_tool("place_order", arguments).await.unwrap();
        assert!(reply.is_error());
        for field in ["customer", "item", "quantity"] {
            assert!(reply.text().contains(field), "{}", reply.text());
        }
    })
    .await;
    assert_eq!(database.taken(), 0, "nothing was opened");
}

#[tokio::test]
async fn a_pipe_finds_the_customer_or_names_the_argument() {
    let (_database, _, client) = shop().await;
    in_both_eras(client, async |client| {
        let unknown = json!({ "customer": "Eve@example.com", "item": "tea", "quantity": 1 });
        let reply = client.call_tool("place_order", unknown).await.unwrap();
        assert!(reply.is_error());
        let text = reply.text();
        assert!(text.contains("`customer`") && text.contains("there is no customer `eve@example.com`"), "{text}");
        let known = json!({ "customer": "Ada@Example.com", "item": "tea", "quantity": 1 });
        assert!(!client.call_tool("place_order", known).await.unwrap().is_error());
    })
    .await;
}

#[tokio::test]
async fn a_header_and_the_state_of_the_call_become_part_of_the_order() {
    let (_database, _, client) = shop().await;
    in_both_eras(client.answer("approval", Approval { approved: true }), async |client| {
        for (id, quantity) in [("a", 20), ("b", 1)] {
            let client = client.clone().header("x-request-id", id);
            let reply = client.call_tool("place_order", tea(quantity)).await.unwrap();
            let Placed { number, .. } = reply.structured().unwrap();
            let order = client.read_resource(&format!("orders://{number}")).await.unwrap();
            let expected = format!("{quantity} x tea, reserved {quantity} x tea; placed by request {id}");
            assert_eq!(order.text(), expected, "nothing of another call or round");
        }
    })
    .await;
}

#[tokio::test]
async fn a_large_order_needs_approval() {
    let (database, sent, client) = shop().await;
    in_both_eras(client.clone().decline("approval"), async |client| {
        assert!(client.call_tool("place_order", tea(20)).await.unwrap().is_error());
    })
    .await;
    in_both_eras(client.clone().answer("approval", Approval { approved: false }), async |client| {
        let reply = client.call_tool("place_order", tea(20)).await.unwrap();
        assert_eq!(reply.text(), "the user did not approve the order");
    })
    .await;
    assert_eq!(database.read(TEA).await, 1000);
    let reply = client.answer("approval", Approval { approved: true }).call_tool("place_order", tea(20)).await.unwrap();
    assert_eq!(reply.asked, [["approval"]]);
    assert_eq!(database.read(TEA).await, 980);
    reply.background.finished().await;
    assert_eq!(sent.0.lock().unwrap().len(), 1, "what was not placed sends no mail");
}

#[tokio::test]
async fn an_order_beyond_the_stock_leaves_the_stock_alone() {
    let (database, _, client) = shop().await;
    in_both_eras(client.answer("approval", Approval { approved: true }), async |client| {
        let arguments = json!({ "customer": "ada@example.com", "item": "kettle", "quantity": 40 });
        let reply = client.call_tool("place_order", arguments).await.unwrap();
        assert_eq!(reply.text(), "there are fewer than 40 of `kettle`");
    })
    .await;
    assert_eq!(database.read("SELECT stock FROM items WHERE name = 'kettle'").await, 30);
    assert_eq!(database.orders_in_the_file().await, 0);
}

#[tokio::test]
async fn orders_are_listed_one_by_one() {
    let (_database, _, client) = shop().await;
    for quantity in [1, 2, 3] {
        client.call_tool("place_order", tea(quantity)).await.unwrap();
    }
    in_both_eras(client, async |client| {
        let reply = client.call_tool("list_orders", json!({ "customer": "ada@example.com" })).await.unwrap();
        assert_eq!(reply.text(), "1: 1 x tea\n2: 2 x tea\n3: 3 x tea\n");
        let items: Vec<_> = reply.progress.iter().map(|item| item.message.as_deref().unwrap()).collect();
        assert_eq!(items, ["1: 1 x tea\n", "2: 2 x tea\n", "3: 3 x tea\n"]);
        let none = client.call_tool("list_orders", json!({ "customer": "bob@example.com" })).await.unwrap();
        assert_eq!((none.text().as_str(), none.is_error()), ("", false));
    })
    .await;
}

#[tokio::test]
async fn the_server_opens_its_database_when_it_starts_and_closes_it_when_it_stops() {
    let database = Database::create().await;
    let server = orders::server(database.path(), Arc::<Sent>::default()).build().unwrap();
    let client = Client::new(server.clone()).era(Era::Session);
    let reply = client.call_tool("place_order", tea(1)).await.unwrap();
    assert!(!reply.is_error(), "{}", reply.text());
    server.stop().await;
    assert_eq!(database.orders_in_the_file().await, 1);
}
