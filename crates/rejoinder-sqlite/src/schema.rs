//! The tables, and how an older file gets them.

use std::{path::Path, time::Duration};

use rejoinder::BoxError;
use rusqlite::{Connection, ErrorCode};

/// What brings a file to version 1, 2, and so on. A released one never changes.
const MIGRATIONS: [&str; 1] = [include_str!("schema_1.sql")];

/// The oldest version whose builds can work with what this build writes.
const LEAST: u32 = 1;

/// Opens a connection. Other processes may hold the file for so long.
pub(crate) fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let mut tries = 0..10;
    loop {
        match Connection::open(path).and_then(set_up) {
            // Changing to a write-ahead log does not always wait for others.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && tries.next().is_some() => {}
            connected => return connected,
        }
    }
}

fn set_up(connection: Connection) -> Result<Connection, rusqlite::Error> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Brings the tables up to date. One process does it at a time.
pub(crate) fn migrate(connection: &Connection) -> Result<(), BoxError> {
    connection.execute_batch("begin exclusive")?;
    let migrated = migrate_alone(connection);
    connection.execute_batch(if migrated.is_ok() { "commit" } else { "rollback" })?;
    migrated
}

fn migrate_alone(connection: &Connection) -> Result<(), BoxError> {
    let versions =
        "create table if not exists rejoinder_schema(version integer not null, least integer not null) strict";
    connection.execute_batch(versions)?;
    let read = "select coalesce(max(version), 0), coalesce(max(least), 0) from rejoinder_schema";
    let (version, least): (u32, u32) = connection.query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (version, known) = (version as usize, MIGRATIONS.len());
    if least as usize > known {
        let newer = format!("the tasks are of schema {version}, and this build knows up to {known}: use a newer one");
        return Err(newer.into());
    }
    for migration in MIGRATIONS.iter().skip(version) {
        connection.execute_batch(migration)?;
    }
    if version < known {
        let write = "delete from rejoinder_schema; insert into rejoinder_schema values";
        connection.execute_batch(&format!("{write} ({known}, {LEAST})"))?;
    }
    Ok(())
}
