//! The complete example: a shop whose orders are rows of a SQLite database.
//!
//! The parameters of [`place_order`] come from everywhere: the model, the headers of the request, the user, resolvers, the
//! server. `tests/` has a test for each thing that this example promises.

mod database;
mod mail;

use std::{path::PathBuf, sync::Arc};

use futures_util::stream;
use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

pub use database::{Transaction, open, transaction};
pub use mail::{Mailer, StandardError};

/// A larger order needs the user's approval.
const MOST_UNAPPROVED: u32 = 10;

/// The server. It opens its database when it starts, and closes it when it stops.
pub fn server(path: impl Into<PathBuf>, mailer: Arc<dyn Mailer>) -> Server {
    let path = path.into();
    Server::new("orders", "1.0.0")
        .provide_async(async move |_| open(path).await)
        .on_stop(async |server| {
            if let Some(pool) = server.dependency::<SqlitePool>() {
                pool.close().await;
            }
        })
        .provide_arc(mailer)
        .tools(tools![place_order, list_orders])
        .resources(resources![order])
}

/// A customer.
#[derive(Debug, Clone)]
pub struct Customer {
    number: i64,
    email: String,
}

/// An order that was placed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Placed {
    /// The number of the order.
    pub number: i64,
    /// Its price in cents.
    pub cents: i64,
}

/// What the user approves.
#[derive(Debug, Clone, PartialEq, Elicit)]
pub struct Approval {
    /// Place this order?
    pub approved: bool,
}

/// What happened in a call. It becomes part of the order.
#[derive(Debug, Default)]
pub struct AuditTrail(Vec<String>);

#[pipe]
fn lowercase(text: String) -> String {
    text.to_lowercase()
}

/// The customer with that address.
#[pipe]
async fn find_customer(email: String, pool: Dep<SqlitePool>) -> Result<Customer, FieldError> {
    let found = sqlx::query_scalar("SELECT number FROM customers WHERE email = ?").bind(email.clone());
    match found.fetch_optional(&*pool).await? {
        Some(number) => Ok(Customer { number, email }),
        None => Err(FieldError::new(format!("there is no customer `{email}`"))),
    }
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
    audit: State<AuditTrail>,
) -> Result<i64, CallError> {
    if !approval.approved {
        return Err(CallError::new("the user did not approve the order"));
    }
    audit.with(|audit| audit.0.push(format!("reserved {quantity} x {item}")));
    let taken = "UPDATE items SET stock = stock - ?1 WHERE name = ?2 AND stock >= ?1 RETURNING cents * ?1";
    let taken = sqlx::query_scalar(taken).bind(quantity).bind(item.to_owned());
    let cents = taken.fetch_optional(&mut *tx.connection().await?).await?;
    cents.ok_or_else(|| CallError::new(format!("there are fewer than {quantity} of `{item}`")))
}

/// Place an order.
#[tool(timeout = "30s")]
#[expect(clippy::too_many_arguments, reason = "each shows where a parameter can come from")]
pub async fn place_order(
    /// The email address of the customer
    #[arg(format = "email", max_length = 100)]
    #[pipe(lowercase, find_customer)]
    customer: Customer,
    /// What to order
    #[arg(pattern = "^[a-z]+$")]
    item: String,
    /// How many of them
    #[arg(min = 1, max = 100)]
    quantity: u32,
    #[resolve(reservation)] cents: i64,
    #[resolve(transaction)] tx: &Transaction,
    #[header("x-request-id")] request_id: Option<String>,
    audit: State<AuditTrail>,
    mailer: Dep<dyn Mailer>,
    background: BackgroundTasks,
) -> Result<Json<Placed>, CallError> {
    audit.with(|audit| audit.0.push(format!("placed by request {}", request_id.as_deref().unwrap_or("unknown"))));
    let order = "INSERT INTO orders (customer, item, quantity, cents, audit) VALUES (?, ?, ?, ?, ?) RETURNING number";
    let order = sqlx::query_scalar(order).bind(customer.number).bind(item).bind(quantity).bind(cents);
    let order = order.bind(audit.with(|audit| audit.0.join("; ")));
    let number = order.fetch_one(&mut *tx.connection().await?).await?;
    // The mail is sent after the reply, and only if the transaction was committed.
    let confirmation = async move { mailer.send(&customer.email, &format!("We have your order {number}.")).await };
    background.on_success().add(confirmation)?;
    Ok(Json(Placed { number, cents }))
}

/// List the orders of a customer, each as soon as it is found.
#[tool]
pub async fn list_orders(
    /// The email address of the customer
    #[pipe(lowercase, find_customer)]
    customer: Customer,
    pool: Dep<SqlitePool>,
) -> ToolStream<String> {
    let orders = stream::try_unfold(0, move |after: i64| {
        let pool = pool.clone();
        async move {
            let next =
                "SELECT number, quantity, item FROM orders WHERE customer = ? AND number > ? ORDER BY number LIMIT 1";
            let next = sqlx::query_as::<_, (i64, i64, String)>(next).bind(customer.number).bind(after);
            let next = next.fetch_optional(&*pool).await?;
            Ok::<_, CallError>(
                next.map(|(number, quantity, item)| (format!("{number}: {quantity} x {item}\n"), number)),
            )
        }
    });
    ToolStream::try_new(orders)
}

/// An order.
#[resource("orders://{number}")]
pub async fn order(
    /// Its number
    #[arg(min = 1)]
    number: i64,
    pool: Dep<SqlitePool>,
) -> Result<String, CallError> {
    let found = sqlx::query_as("SELECT quantity, item, audit FROM orders WHERE number = ?").bind(number);
    let found: Option<(i64, String, String)> = found.fetch_optional(&*pool).await?;
    let (quantity, item, audit) = found.ok_or_else(|| CallError::not_found(format!("there is no order {number}")))?;
    Ok(format!("{quantity} x {item}, {audit}"))
}
