//! The threads that use the database.

use std::{
    io,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use rejoinder::{BoxError, tasks::KeeperError};
use rusqlite::Connection;
use tokio::sync::oneshot;

/// A thread with a connection. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Thread(Sender<Box<dyn Job>>);

/// How many operations share a commit at most.
const MOST: usize = 256;

impl Thread {
    pub(crate) fn start(name: &str, begin: &'static str, connection: Connection) -> io::Result<Self> {
        let (sender, jobs) = channel();
        thread::Builder::new().name(name.to_owned()).spawn(move || work(&connection, begin, &jobs))?;
        Ok(Self(sender))
    }

    /// Runs an operation in a transaction. It happens even if nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Connection) -> Result<T, BoxError> + Send + 'static,
    ) -> Result<T, KeeperError> {
        let (reply, result) = oneshot::channel();
        let job = Queued { operation: Some(operation), result: None, reply };
        let sent = self.0.send(Box::new(job)).is_ok();
        let ended = || KeeperError::new("the thread of the database has ended");
        if sent { result.await.map_err(|_| ended())? } else { Err(ended()) }
    }
}

trait Job: Send {
    /// Does it; whether it succeeded.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Says how it went, when it is durable, or why it is not.
    fn reply(self: Box<Self>, not_durable: Option<&str>);
}

struct Queued<F, T> {
    operation: Option<F>,
    result: Option<Result<T, KeeperError>>,
    reply: oneshot::Sender<Result<T, KeeperError>>,
}

impl<F, T> Job for Queued<F, T>
where
    F: FnOnce(&Connection) -> Result<T, BoxError> + Send,
    T: Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let operation = self.operation.take().expect("it runs once");
        let result = operation(connection).map_err(KeeperError::new);
        self.result.insert(result).is_ok()
    }

    fn reply(self: Box<Self>, not_durable: Option<&str>) {
        let result = match (not_durable, self.result) {
            (None, Some(result)) => result,
            (error, _) => Err(KeeperError::new(error.unwrap_or("not done"))),
        };
        // Nobody may be waiting any more.
        let _ = self.reply.send(result);
    }
}

/// Each transaction takes what has come while the last one was written.
fn work(connection: &Connection, begin: &str, jobs: &Receiver<Box<dyn Job>>) {
    while let Ok(first) = jobs.recv() {
        let mut taken: Vec<_> = std::iter::once(first).chain(jobs.try_iter()).take(MOST).collect();
        let done = transaction(connection, begin, &mut taken).map_err(|error| error.to_string());
        if done.is_err() && !connection.is_autocommit() {
            // If this fails too, the next `begin` says so.
            let _ = connection.execute_batch("rollback");
        }
        for job in taken {
            job.reply(done.as_ref().err().map(String::as_str));
        }
    }
}

fn transaction(connection: &Connection, begin: &str, jobs: &mut [Box<dyn Job>]) -> Result<(), rusqlite::Error> {
    let execute = |sql| connection.prepare_cached(sql)?.execute([]).map(drop);
    execute(begin)?;
    for job in jobs {
        execute("savepoint operation")?;
        if !job.run(connection) {
            execute("rollback to operation")?;
        }
        execute("release operation")?;
    }
    execute("commit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    /// A writer, with a table.
    fn writer(folder: &tempfile::TempDir) -> Thread {
        let connection = schema::connect(&folder.path().join("tasks.db")).expect("a file");
        connection.execute_batch("create table a(value integer unique)").expect("a table");
        Thread::start("test", "begin immediate", connection).expect("a thread")
    }

    async fn insert(writer: &Thread, value: i64, and_fails: bool) -> Result<(), KeeperError> {
        let insert = move |connection: &Connection| {
            connection.execute("insert into a values (?1)", [value])?;
            if and_fails { Err("it fails afterwards".into()) } else { Ok(()) }
        };
        writer.run(insert).await
    }

    async fn values(writer: &Thread) -> Vec<i64> {
        let read = |connection: &Connection| {
            let mut rows = connection.prepare("select value from a order by value")?;
            let rows = rows.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        writer.run(read).await.expect("it answers")
    }

    #[tokio::test]
    async fn an_operation_that_fails_takes_none_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = writer(&folder);
        let all = (0..100).map(|value| insert(&writer, value % 50, value % 10 == 0));
        let results = futures_util::future::join_all(all).await;
        let failed = results.iter().filter(|result| result.is_err()).count();
        assert_eq!(failed, 55, "ten say so, and the others of the second half are there already");
        assert_eq!(values(&writer).await, (0..50).filter(|value| value % 10 != 0).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_transaction_that_cannot_begin_or_commit_fails_and_the_next_one_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = writer(&folder);
        writer.run(|connection| Ok(connection.busy_timeout(std::time::Duration::ZERO)?)).await.expect("it is set");
        let other = Connection::open(folder.path().join("tasks.db")).expect("a file");
        other.execute_batch("begin immediate").expect("nobody writes");
        let error = insert(&writer, 1, false).await.expect_err("another one writes");
        assert!(error.to_string().contains("locked"), "{error}");
        other.execute_batch("commit").expect("it began");
        insert(&writer, 1, false).await.expect("nobody writes");
        // The disk is full.
        let most = |pages: &'static str| {
            writer.run(move |connection| {
                Ok(connection.query_row(&format!("pragma max_page_count = {pages}"), [], |row| row.get::<_, i64>(0))?)
            })
        };
        most("3").await.expect("it is set");
        let fill = async || {
            let fill =
                "insert into a with recursive n(i) as (select 10 union select i + 1 from n limit 5000) select i from n";
            writer.run(move |connection| Ok(connection.execute(fill, [])?)).await
        };
        let (first, second) = tokio::join!(fill(), insert(&writer, 2, false));
        assert!(first.expect_err("it is full").to_string().contains("full"));
        assert_eq!(values(&writer).await.contains(&2), second.is_ok(), "what is acknowledged is there");
        most("100000").await.expect("it is set");
        fill().await.expect("there is room");
        assert!(values(&writer).await.len() > 5000);
    }
}
