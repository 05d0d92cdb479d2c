//! A database file of a test's own.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sqlx::{
    ConnectOptions, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};
use tokio::sync::Notify;

/// A database file, removed when this is dropped.
pub(crate) struct Database {
    path: PathBuf,
    pub(crate) pool: SqlitePool,
    taken: Arc<AtomicUsize>,
    /// Notified when a call has written an order.
    pub(crate) written: Arc<Notify>,
}

impl Database {
    pub(crate) async fn create() -> Self {
        static CREATED: AtomicUsize = AtomicUsize::new(0);
        let name = format!("orders-{}-{}.db", std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        orders::open(&path).await.unwrap().close().await;
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        // One connection, which is idle now: it is counted whenever it is taken.
        let pool = SqlitePoolOptions::new().max_connections(1).before_acquire(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(true) })
        });
        let pool = pool.connect_with(SqliteConnectOptions::new().filename(&path)).await.unwrap();
        Self { path, pool, taken, written: Arc::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How often a connection was taken from the pool.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Closes the pool, which waits for open transactions to end, and reads the number of orders from the file.
    pub(crate) async fn orders_in_the_file(&self) -> i64 {
        tokio::time::timeout(Duration::from_secs(20), self.pool.close()).await.expect("no transaction is left open");
        self.read("SELECT count(*) FROM orders").await
    }

    /// Reads a number from the file, over a connection of its own.
    pub(crate) async fn read(&self, query: &'static str) -> i64 {
        let mut file = SqliteConnectOptions::new().filename(&self.path).connect().await.unwrap();
        sqlx::query_scalar(query).fetch_one(&mut file).await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
