//! The complete example: a shop whose orders are rows of a SQLite database.
//!
//! Each parameter of [`place_order`] comes from somewhere else: the model, the user, a resolver, the server. The tests in
//! `tests/` have one test for each thing that this example promises.

mod database;

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

pub use database::{Transaction, open, transaction};

/// A larger order needs the user's approval.
const MOST_UNAPPROVED: u32 = 10;

/// The server.
pub fn server(pool: SqlitePool) -> Server {
    Server::new("orders", "1.0.0").provide(pool).tools(tools![place_order])
}

/// What the user approves.
#[derive(Debug, Clone, PartialEq, Elicit)]
pub struct Approval {
    /// Place this order?
    pub approved: bool,
}

/// An order that was placed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Placed {
    /// The number of the order.
    pub number: i64,
    /// Its price in cents.
    pub cents: i64,
}

/// Asks the user, if it is a large order.
#[resolver]
fn approval(item: &str, quantity: u32) -> Ask<Approval> {
    if quantity <= MOST_UNAPPROVED {
        return Ask::known(Approval { approved: true });
    }
    Ask::user(format!("That is a large order: {quantity} x {item}."))
}

/// Takes what was ordered from the stock, once the user has approved; the price of it in cents.
#[resolver]
async fn reservation(
    item: &str,
    quantity: u32,
    #[resolve(approval)] approval: &Approval,
    #[resolve(transaction)] tx: &Transaction,
) -> Result<i64, CallError> {
    if !approval.approved {
        return Err(CallError::new("the user did not approve the order"));
    }
    let taken = "UPDATE items SET stock = stock - ?1 WHERE name = ?2 AND stock >= ?1 RETURNING cents * ?1";
    let taken = sqlx::query_scalar(taken).bind(quantity).bind(item.to_owned());
    let cents = taken.fetch_optional(&mut *tx.connection().await?).await?;
    cents.ok_or_else(|| CallError::new(format!("there are fewer than {quantity} of `{item}`")))
}

/// Place an order.
#[tool]
async fn place_order(
    /// What to order
    item: String,
    /// How many of them
    quantity: u32,
    #[resolve(reservation)] cents: i64,
    #[resolve(transaction)] tx: &Transaction,
) -> Result<Json<Placed>, CallError> {
    let order = "INSERT INTO orders (item, quantity, cents) VALUES (?, ?, ?) RETURNING number";
    let order = sqlx::query_scalar(order).bind(item).bind(quantity).bind(cents);
    let number = order.fetch_one(&mut *tx.connection().await?).await?;
    Ok(Json(Placed { number, cents }))
}
