//! The database, and one transaction for each call.

use std::{path::Path, sync::Arc};

use rejoinder::prelude::*;
use sqlx::{Sqlite, SqliteConnection, SqlitePool, sqlite::SqliteConnectOptions};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

/// Opens the database, and creates it if there is none.
///
/// # Errors
///
/// If the file is not a database, or cannot be written.
pub async fn open(path: impl AsRef<Path>) -> Result<SqlitePool, sqlx::Error> {
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(path).create_if_missing(true)).await?;
    sqlx::raw_sql(include_str!("schema.sql")).execute(&pool).await?;
    Ok(pool)
}

/// The transaction of a call. Everything in the call that takes it gets the same one.
#[derive(Debug, Clone)]
pub struct Transaction(Arc<Mutex<Option<sqlx::Transaction<'static, Sqlite>>>>);

impl Transaction {
    /// The connection, for one statement or several: `tx.connection().await?`.
    ///
    /// # Errors
    ///
    /// If the transaction is over, which only a task that outlives its call can see.
    pub async fn connection(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, CallError> {
        MutexGuard::try_map(self.0.lock().await, |transaction| transaction.as_deref_mut())
            .map_err(|_| CallError::new("the transaction is over"))
    }
}

/// Begins a transaction, which ends with the round of the call: a call that succeeds commits it. A call that fails, is
/// declined, panics, is cancelled or takes too long rolls it back. A question rolls it back too, unless the round recorded
/// steps.
///
/// A commit that fails fails the call, before the client has a reply. It takes no lock before its first statement, so a call
/// that waits for its user keeps nobody else waiting.
#[resolver]
pub async fn transaction(pool: Dep<SqlitePool>, scope: Scope) -> Result<Transaction, CallError> {
    let transaction = Transaction(Arc::new(Mutex::new(Some(pool.begin().await?))));
    let ending = transaction.clone();
    scope.defer(move |end| async move {
        let keeps_changes = end.keeps_changes();
        match ending.0.lock().await.take() {
            Some(transaction) if keeps_changes => transaction.commit().await,
            Some(transaction) => transaction.rollback().await,
            None => Ok(()),
        }
    });
    Ok(transaction)
}
