//! However a call ends, the file has all that it wrote or nothing.

use std::sync::Arc;

use orders::{Transaction, transaction};
use rejoinder::{
    Call, FromCall,
    call::Era,
    form::ConfirmForm,
    middleware::{Next, OperationRequest, OperationResult},
    prelude::*,
    testing::{Client, Transport},
};
use serde_json::json;
use tokio::sync::Notify;

use crate::database::Database;

async fn write_order(tx: &Transaction) -> Result<(), CallError> {
    write_order_of(1, tx).await
}

async fn write_order_of(customer: i64, tx: &Transaction) -> Result<(), CallError> {
    let order = sqlx::query("INSERT INTO orders (customer, item, quantity, cents) VALUES (?, 'tea', 1, 450)");
    order.bind(customer).execute(&mut *tx.connection().await?).await?;
    Ok(())
}

/// Writes an order, and ends in the way that the argument names.
#[tool]
async fn end(
    how: String,
    #[resolve(transaction)] tx: &Transaction,
    ctx: Context,
    written: Dep<Notify>,
) -> Result<&'static str, CallError> {
    write_order(tx).await?;
    written.notify_one();
    match how.as_str() {
        "fail" => return Err(CallError::new("no")),
        "panic" => panic!("on purpose"),
        "ask" => drop(ctx.ask("sure", Ask::confirm("Sure?")).await?),
        "wait" => std::future::pending().await,
        _ => {}
    }
    Ok("done")
}

/// Writes an order of a customer that does not exist, which the database notices when it commits.
#[tool]
async fn order_of_nobody(#[resolve(transaction)] tx: &Transaction) -> Result<&'static str, CallError> {
    write_order_of(99, tx).await?;
    Ok("ordered")
}

/// Writes an order in a step, and asks.
#[tool]
async fn order_in_a_step(#[resolve(transaction)] tx: &Transaction, ctx: Context) -> Result<&'static str, CallError> {
    ctx.once("write", || write_order(tx)).await?;
    ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok("ordered")
}

/// Writes an order, and takes too long.
#[tool(timeout = "50ms")]
async fn take_too_long(#[resolve(transaction)] tx: &Transaction) -> Result<(), CallError> {
    write_order(tx).await?;
    std::future::pending().await
}

/// Writes an order too, in the same transaction.
#[resolver]
async fn first_order(#[resolve(transaction)] tx: &Transaction) -> Result<(), CallError> {
    write_order(tx).await
}

/// Writes an order when the call ends.
#[resolver]
fn last_order(#[resolve(transaction)] tx: &Transaction, scope: Scope) {
    let tx = tx.clone();
    scope.defer(move |_| async move { write_order(&tx).await });
}

#[tool]
async fn two_orders(
    fail: bool,
    #[resolve(first_order)] _first: &(),
    #[resolve(transaction)] tx: &Transaction,
) -> Result<(), CallError> {
    write_order(tx).await?;
    if fail { Err(CallError::new("no")) } else { Ok(()) }
}

#[tool]
async fn order_at_the_end(#[resolve(last_order)] _last: &()) {}

/// Who calls, from a header.
struct Clerk;

impl FromCall for Clerk {
    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        call.header("x-clerk").map(|_| Self).ok_or_else(|| CallError::new("clerks only"))
    }
}

#[tool]
async fn clerks_only(
    #[arg(max = 10)] quantity: u32,
    _clerk: Clerk,
    #[resolve(transaction)] tx: &Transaction,
) -> Result<u32, CallError> {
    write_order(tx).await?;
    Ok(quantity)
}

/// Refuses a caller before anything is looked up.
async fn open_hours(request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
    if request.header("x-night").is_some() {
        return Err(CallError::new("come back tomorrow"));
    }
    Ok(next.run(request).await)
}

fn client(database: &Database, era: Era) -> Client {
    let server = Server::new("ends", "1.0.0").provide(database.pool.clone()).provide_arc(Arc::clone(&database.written));
    let server = server.tools(tools![
        end,
        order_of_nobody,
        order_in_a_step,
        take_too_long,
        two_orders,
        order_at_the_end,
        clerks_only
    ]);
    Client::new(server.middleware(open_hours)).era(era)
}

/// Runs a test over each transport in both eras, each with a database of its own.
async fn everywhere(test: impl AsyncFn(&Database, Client)) {
    for transport in [Transport::Http, Transport::Stdio, Transport::WebSocket, Transport::Sse] {
        for era in [Era::Stateless, Era::Session] {
            let database = Database::create().await;
            test(&database, client(&database, era).transport(transport)).await;
        }
    }
}

#[tokio::test]
async fn l3_a_call_that_succeeds_commits_and_any_other_end_rolls_back() {
    for (how, orders) in [("succeed", 1), ("fail", 0), ("panic", 0)] {
        everywhere(async |database, client| {
            let reply = client.call_tool("end", json!({ "how": how })).await;
            assert_eq!(reply.is_ok_and(|reply| !reply.is_error()), orders == 1, "{how}");
            assert_eq!(database.orders_in_the_file().await, orders, "{how}");
        })
        .await;
    }
}

#[tokio::test]
async fn u3_1_a_commit_that_fails_fails_the_call() {
    everywhere(async |database, client| {
        let reply = client.call_tool("order_of_nobody", json!({})).await.unwrap();
        assert!(reply.is_error() && reply.text().starts_with("Internal error"), "{}", reply.text());
        assert_eq!(database.orders_in_the_file().await, 0);
    })
    .await;
}

#[tokio::test]
async fn r3_m6_what_a_step_wrote_is_stored_once_although_a_question_follows() {
    everywhere(async |database, client| {
        let client = client.answer("sure", ConfirmForm { yes: true });
        assert_eq!(client.call_tool("order_in_a_step", json!({})).await.unwrap().text(), "ordered");
        assert_eq!(database.orders_in_the_file().await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_declined_question_rolls_back() {
    everywhere(async |database, client| {
        let reply = client.decline("sure").call_tool("end", json!({ "how": "ask" })).await.unwrap();
        assert!(reply.is_error(), "{reply:?}");
        assert_eq!(database.orders_in_the_file().await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_pending_question_rolls_back_and_its_answer_commits() {
    let database = Database::create().await;
    let client = client(&database, Era::Stateless).answer("sure", ConfirmForm { yes: true });
    let pending = client.request("tools/call", json!({ "name": "end", "arguments": { "how": "ask" } })).await.unwrap();
    assert_eq!(pending["resultType"], "input_required");
    assert_eq!(database.orders_in_the_file().await, 0, "the round is over, and so is its transaction");

    everywhere(async |database, client| {
        let client = client.answer("sure", ConfirmForm { yes: true });
        assert_eq!(client.call_tool("end", json!({ "how": "ask" })).await.unwrap().text(), "done");
        assert_eq!(database.orders_in_the_file().await, 1, "once, although a stateless function runs twice");
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_call_rolls_back() {
    everywhere(async |database, client| {
        tokio::select! {
            reply = client.call_tool("end", json!({ "how": "wait" })) => panic!("it never ends: {reply:?}"),
            () = database.written.notified() => {}
        }
        assert_eq!(database.orders_in_the_file().await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_rolls_back() {
    everywhere(async |database, client| {
        let reply = client.call_tool("take_too_long", json!({})).await.unwrap();
        assert_eq!(reply.text(), "timed out after 0.05 s");
        assert_eq!(database.orders_in_the_file().await, 0);
    })
    .await;
}

#[tokio::test]
async fn what_shares_a_call_shares_its_transaction() {
    for (fail, orders) in [(false, 2), (true, 0)] {
        everywhere(async |database, client| {
            client.call_tool("two_orders", json!({ "fail": fail })).await.unwrap();
            assert_eq!(database.taken(), 1, "the resolver and the body have one transaction");
            assert_eq!(database.orders_in_the_file().await, orders);
        })
        .await;
    }
}

#[tokio::test]
async fn what_depends_on_the_transaction_ends_before_it() {
    everywhere(async |database, client| {
        client.call_tool("order_at_the_end", json!({})).await.unwrap();
        assert_eq!(database.orders_in_the_file().await, 1, "the transaction was still open");
    })
    .await;
}

#[tokio::test]
async fn l11_a_refused_caller_and_a_bad_argument_open_nothing() {
    for era in [Era::Stateless, Era::Session] {
        let database = Database::create().await;
        let client = client(&database, era);
        let refused = client.call_tool("clerks_only", json!({ "quantity": 1 })).await.unwrap();
        assert_eq!(refused.text(), "clerks only");
        let refused = client.clone().header("x-night", "1").call_tool("clerks_only", json!({ "quantity": 1 })).await;
        assert_eq!(refused.unwrap().text(), "come back tomorrow");
        let clerk = client.header("x-clerk", "7");
        let bad = [json!({ "quantity": "many" }), json!({ "quantity": 11 }), json!({})];
        for arguments in bad.into_iter().chain([json!({ "quantity": 1, "tx": "mine" })]) {
            assert!(clerk.call_tool("clerks_only", arguments.clone()).await.unwrap().is_error(), "{arguments}");
        }
        assert_eq!(database.taken(), 0, "no transaction was opened");
        assert_eq!(clerk.call_tool("clerks_only", json!({ "quantity": 1 })).await.unwrap().text(), "1");
        assert_eq!(database.taken(), 1);
    }
}
