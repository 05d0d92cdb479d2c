//! The operations of a store in SQL, each inside of a transaction.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use rejoinder::{
    BoxError,
    tasks::{
        AnsweredTask, AskedQuestion, BirthError, Claim, ClaimState, Claimant, ClaimedTask, CreatedTask, NewTask,
        OpenQuestion, Parking, TaskEnd, TaskId, TaskOwner, TaskRun, TaskSnapshot, TaskState, WorkerId,
    },
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params, types::FromSql};

type Result<T> = std::result::Result<T, BoxError>;

/// Milliseconds since 1970.
pub(crate) type Time = i64;

/// Nothing lasts longer.
const CENTURY: Time = 100 * 365 * 24 * 3600 * 1000;

/// How many tasks are swept in one transaction.
const SWEPT: u32 = 500;

pub(crate) fn milliseconds(duration: Duration) -> Time {
    Time::try_from(duration.as_millis()).unwrap_or(CENTURY).min(CENTURY)
}

/// Rounded up, so that nobody wakes before its time.
pub(crate) fn to_time(time: SystemTime) -> Time {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::try_from(since.as_nanos().div_ceil(1_000_000)).unwrap_or(Time::MAX)
}

fn to_duration(time: Time) -> Duration {
    Duration::from_millis(time.unsigned_abs())
}

fn from_time(time: Time) -> SystemTime {
    UNIX_EPOCH + to_duration(time)
}

fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    Ok(connection.prepare_cached(sql)?.execute(params)?)
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    Ok(connection.prepare_cached(sql)?.query_map(params, read)?.collect::<rusqlite::Result<_>>()?)
}

/// The first column of the first row.
fn first<T: FromSql>(connection: &Connection, sql: &str, params: impl Params) -> Result<Option<T>> {
    Ok(connection.prepare_cached(sql)?.query_row(params, |row| row.get(0)).optional()?)
}

fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskId> {
    row.get(column).map(TaskId::from_bytes)
}

fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Bytes> {
    row.get::<_, Vec<u8>>(column).map(Bytes::from)
}

fn maybe_bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Bytes>> {
    row.get::<_, Option<Vec<u8>>>(column).map(|bytes| bytes.map(Bytes::from))
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Arc<str>> {
    row.get(column)
}

pub(crate) fn join(connection: &Connection, worker: WorkerId, until: Time) -> Result<()> {
    let sql = "insert into rejoinder_worker values (?1, ?2) on conflict do update set until = ?2";
    execute(connection, sql, params![worker.as_bytes(), until]).map(drop)
}

pub(crate) fn beat(connection: &Connection, worker: WorkerId, until: Time) -> Result<Option<Vec<Claim>>> {
    let sql = "update rejoinder_worker set until = ?2 where id = ?1";
    if execute(connection, sql, params![worker.as_bytes(), until])? == 0 {
        return Ok(None);
    }
    let sql = "select id, epoch from rejoinder_task where worker = ?1";
    all(connection, sql, [worker.as_bytes()], |row| Ok(Claim { id: id(row, 0)?, worker, epoch: row.get(1)? })).map(Some)
}

pub(crate) fn leave(connection: &Connection, worker: WorkerId, now: Time) -> Result<()> {
    let sql = "update rejoinder_task set worker = null, due = ?2, waits = ?2, epoch = epoch + 1 where worker = ?1";
    execute(connection, sql, params![worker.as_bytes(), now])?;
    execute(connection, "delete from rejoinder_worker where id = ?1", [worker.as_bytes()]).map(drop)
}

pub(crate) fn create(
    connection: &Connection,
    task: &NewTask,
    claimant: Option<&Claimant>,
    now: Time,
) -> Result<std::result::Result<CreatedTask, BirthError>> {
    let (key, owner, origin) = (task.id.as_bytes(), &task.owner.0, task.origin.as_deref());
    let sql = "select id from rejoinder_task where id = ?1 or (owner = ?2 and origin = ?3)";
    if let Some(id) = first(connection, sql, params![key, owner, origin])?.map(TaskId::from_bytes) {
        let snapshot = get(connection, &task.owner, &id, now)?.ok_or("another owner has the id")?;
        return Ok(Ok(CreatedTask { snapshot, claimed: None }));
    }
    let sql = "select count(*) from rejoinder_task where status = 0";
    if is_full(first(connection, sql, [])?, task.most.in_all) {
        return Ok(Err(BirthError::Full));
    }
    let sql = "select count(*) from rejoinder_task where status = 0 and owner = ?1";
    if is_full(first(connection, sql, [owner])?, task.most.of_owner) {
        return Ok(Err(BirthError::CallerFull));
    }
    let [ttl, keep, poll] = [task.ttl, task.keep, task.poll].map(milliseconds);
    let sql = "insert into rejoinder_task(
        id, tool, owner, origin, due, waits, created, updated, expires, ttl, keep, poll, call, record
    ) values (?1, ?2, ?3, ?4, ?5, ?5, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let (call, record) = (&*task.call, &*task.record);
    execute(connection, sql, params![key, task.tool, owner, origin, now, now + ttl, ttl, keep, poll, call, record])?;
    let claimed = match claimant.filter(|claimant| claimant.runs(&task.tool)) {
        Some(claimant) => claim(connection, task.id, claimant.worker, now)?,
        None => None,
    };
    let snapshot = get(connection, &task.owner, &task.id, now)?.ok_or("the new task is not there")?;
    Ok(Ok(CreatedTask { snapshot, claimed }))
}

fn is_full(open: Option<i64>, most: usize) -> bool {
    usize::try_from(open.unwrap_or_default()).is_ok_and(|open| open >= most)
}

const DUE: &str = "select id, owner, tool from rejoinder_task where due <= ?1 order by due";

/// Whether a task is due whose tool the claimant runs.
pub(crate) fn has_due(connection: &Connection, claimant: &Claimant, now: Time) -> Result<bool> {
    let mut due = connection.prepare_cached(DUE)?;
    let mut rows = due.query([now])?;
    while let Some(row) = rows.next()? {
        if claimant.runs(row.get_ref(2)?.as_str()?) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn claim_due(
    connection: &Connection,
    claimant: &Claimant,
    most: usize,
    now: Time,
) -> Result<Vec<ClaimedTask>> {
    let held = "select owner from rejoinder_task where worker = ?1";
    let held = all(connection, held, [claimant.worker.as_bytes()], |row| row.get(0).map(TaskOwner))?;
    let mut due = connection.prepare_cached(DUE)?;
    let due = due.query_map([now], |row| Ok((id(row, 0)?, row.get(1).map(TaskOwner)?, text(row, 2)?)))?;
    let mut failed = Ok(());
    let due = due.map_while(|row| row.map_err(|error| failed = Err(error)).ok());
    let due = due.filter(|(_, _, tool)| claimant.runs(tool)).map(|(id, owner, _)| (id, owner));
    let chosen = claimant.choose(most, held, due);
    failed?;
    let mut claimed = Vec::new();
    for id in chosen {
        claimed.extend(claim(connection, id, claimant.worker, now)?);
    }
    Ok(claimed)
}

/// Claims a task that is due, unless the worker has been buried.
fn claim(connection: &Connection, id: TaskId, worker: WorkerId, now: Time) -> Result<Option<ClaimedTask>> {
    let sql = "update rejoinder_task set worker = ?2, epoch = epoch + 1, due = null
        where id = ?1 and due <= ?3 and exists (select 1 from rejoinder_worker where id = ?2)
        returning epoch, tool, owner, call, record";
    let read = |row: &Row<'_>| {
        let run = TaskRun::of(id, text(row, 1)?, row.get(2).map(TaskOwner)?, bytes(row, 3)?, bytes(row, 4)?);
        Ok(ClaimedTask { claim: Claim { id, worker, epoch: row.get(0)? }, run })
    };
    let params = params![id.as_bytes(), worker.as_bytes(), now];
    let Some(mut claimed) = connection.prepare_cached(sql)?.query_row(params, read).optional()? else {
        return Ok(None);
    };
    let steps = "select key, value from rejoinder_step where task = ?1 order by rowid";
    claimed.run.steps = all(connection, steps, [id.as_bytes()], |row| Ok((text(row, 0)?, bytes(row, 1)?)))?;
    let sql = "select key, name, request, answer, closed from rejoinder_question where task = ?1 order by rowid";
    claimed.run.questions = all(connection, sql, [id.as_bytes()], |row| {
        let (key, name, request, answer) = (text(row, 0)?, text(row, 1)?, bytes(row, 2)?, maybe_bytes(row, 3)?);
        Ok(AskedQuestion { key, name, request, answer, is_closed: row.get(4)? })
    })?;
    Ok(Some(claimed))
}

pub(crate) fn get(connection: &Connection, owner: &TaskOwner, id: &TaskId, now: Time) -> Result<Option<TaskSnapshot>> {
    let sql = "select created, updated, ttl, poll, message, status, outcome,
        iif(worker is null and waits <= ?3, waits, null) from rejoinder_task where id = ?1 and owner = ?2";
    let read = |row: &Row<'_>| {
        let created = from_time(row.get(0)?);
        let mut task = TaskSnapshot::new(*id, created, to_duration(row.get(2)?), to_duration(row.get(3)?));
        task.updated = from_time(row.get(1)?);
        task.message = maybe_bytes(row, 4)?;
        task.waits_since = row.get::<_, Option<Time>>(7)?.map(from_time);
        Ok((task, row.get::<_, i64>(5)?, maybe_bytes(row, 6)?))
    };
    let found = connection.prepare_cached(sql)?.query_row(params![id.as_bytes(), owner.0, now], read).optional()?;
    let Some((mut task, status, outcome)) = found else { return Ok(None) };
    let outcome = outcome.unwrap_or_default();
    task.state = match status {
        0 => {
            let sql = "select key, request from rejoinder_question
                where task = ?1 and answer is null and not closed order by rowid";
            let open = |row: &Row<'_>| Ok(OpenQuestion { key: text(row, 0)?, request: bytes(row, 1)? });
            TaskState::Open(all(connection, sql, [id.as_bytes()], open)?)
        }
        1 => TaskState::Ended(TaskEnd::Completed(outcome)),
        2 => TaskState::Ended(TaskEnd::Failed(outcome)),
        3 => TaskState::Ended(TaskEnd::Cancelled),
        4 => TaskState::Ended(TaskEnd::Expired),
        5 => TaskState::Ended(TaskEnd::Died),
        other => return Err(format!("a task has the unknown status {other}").into()),
    };
    Ok(Some(task))
}

/// The number and the bytes of an end.
fn status(end: &TaskEnd) -> Result<(i64, Option<&[u8]>)> {
    match end {
        TaskEnd::Completed(result) => Ok((1, Some(result))),
        TaskEnd::Failed(error) => Ok((2, Some(error))),
        TaskEnd::Cancelled => Ok((3, None)),
        TaskEnd::Expired => Ok((4, None)),
        TaskEnd::Died => Ok((5, None)),
        _ => Err("this build does not know the end of the task".into()),
    }
}

pub(crate) fn answer(
    connection: &Connection,
    owner: &TaskOwner,
    id: &TaskId,
    answers: &[(Arc<str>, Bytes)],
    claimant: Option<&Claimant>,
    now: Time,
) -> Result<Option<AnsweredTask>> {
    let key = id.as_bytes();
    let sql = "select tool from rejoinder_task where id = ?1 and owner = ?2";
    let Some(tool) = first::<Arc<str>>(connection, sql, params![key, owner.0])? else { return Ok(None) };
    let mut taken = 0;
    for (question, answer) in answers {
        let sql =
            "update rejoinder_question set answer = ?3 where task = ?1 and key = ?2 and answer is null and not closed";
        taken += execute(connection, sql, params![key, question, &**answer])?;
    }
    if taken == 0 {
        return Ok(Some(AnsweredTask::default()));
    }
    execute(connection, "update rejoinder_task set updated = ?2 where id = ?1", params![key, now])?;
    let sql = "update rejoinder_task set due = ?2, waits = ?2 where id = ?1 and worker is null and not exists
        (select 1 from rejoinder_question where task = ?1 and answer is null and not closed)";
    let is_due = execute(connection, sql, params![key, now])? > 0;
    let claimed = match claimant.filter(|claimant| is_due && claimant.runs(&tool)) {
        Some(claimant) => claim(connection, *id, claimant.worker, now)?,
        None => None,
    };
    Ok(Some(AnsweredTask { is_changed: true, claimed }))
}

pub(crate) fn cancel(connection: &Connection, owner: &TaskOwner, id: &TaskId, now: Time) -> Result<Option<bool>> {
    let sql = "select status from rejoinder_task where id = ?1 and owner = ?2";
    let Some(status) = first::<i64>(connection, sql, params![id.as_bytes(), owner.0])? else { return Ok(None) };
    if status == 0 {
        end(connection, id, &TaskEnd::Cancelled, now)?;
    }
    Ok(Some(status == 0))
}

/// Ends an open task, whoever holds it.
fn end(connection: &Connection, id: &TaskId, end: &TaskEnd, now: Time) -> Result<()> {
    let (status, outcome) = status(end)?;
    let sql = "update rejoinder_task set status = ?2, outcome = ?3, updated = ?4, expires = max(expires, ?4 + keep),
        worker = null, due = null, waits = null, epoch = epoch + 1, call = x'', record = x'' where id = ?1";
    execute(connection, sql, params![id.as_bytes(), status, outcome, now])?;
    execute(connection, "delete from rejoinder_step where task = ?1", [id.as_bytes()])?;
    execute(connection, "delete from rejoinder_question where task = ?1", [id.as_bytes()]).map(drop)
}

fn is_held(connection: &Connection, claim: &Claim) -> Result<bool> {
    let sql = "select 1 from rejoinder_task where id = ?1 and worker = ?2 and epoch = ?3";
    let params = params![claim.id.as_bytes(), claim.worker.as_bytes(), claim.epoch];
    Ok(first::<i64>(connection, sql, params)?.is_some())
}

fn state(is_held: bool) -> ClaimState {
    if is_held { ClaimState::Held } else { ClaimState::Lost }
}

pub(crate) fn record(connection: &Connection, claim: &Claim, key: &str, step: &[u8]) -> Result<ClaimState> {
    if !is_held(connection, claim)? {
        return Ok(ClaimState::Lost);
    }
    let (task, sql) = (claim.id.as_bytes(), "insert into rejoinder_step values (?1, ?2, ?3) on conflict do nothing");
    if execute(connection, sql, params![task, key, step])? == 0 {
        let sql = "select 1 from rejoinder_step where task = ?1 and key = ?2 and value = ?3";
        first::<i64>(connection, sql, params![task, key, step])?.ok_or("another step has this key")?;
    }
    Ok(ClaimState::Held)
}

pub(crate) fn message(connection: &Connection, claim: &Claim, message: &[u8], now: Time) -> Result<ClaimState> {
    let sql = "update rejoinder_task set message = ?4, updated = ?5 where id = ?1 and worker = ?2 and epoch = ?3";
    let params = params![claim.id.as_bytes(), claim.worker.as_bytes(), claim.epoch, message, now];
    Ok(state(execute(connection, sql, params)? > 0))
}

pub(crate) fn park(connection: &Connection, claim: &Claim, parking: &Parking, now: Time) -> Result<ClaimState> {
    let task = claim.id.as_bytes();
    if !is_held(connection, claim)? {
        // All who take a task away from its worker add to the epoch.
        let sql = "select 1 from rejoinder_task where id = ?1 and worker is null and epoch = ?2 and status = 0 and record = ?3";
        let params = params![task, claim.epoch, &*parking.record];
        return Ok(state(first::<i64>(connection, sql, params)?.is_some()));
    }
    execute(connection, "delete from rejoinder_step where task = ?1", [task])?;
    for key in &parking.closed {
        let sql = "update rejoinder_question set closed = 1 where task = ?1 and key = ?2";
        execute(connection, sql, params![task, key])?;
    }
    for asked in &parking.asked {
        let sql = "insert into rejoinder_question(task, key, name, request) values (?1, ?2, ?3, ?4)";
        execute(connection, sql, params![task, asked.key, asked.name, &*asked.request])?;
    }
    let count = "select count(*) from rejoinder_question where task = ?1 and not closed and (answer is not null) = ?2";
    let count = |is_answered: bool| first::<i64>(connection, count, params![task, is_answered]);
    let wakes = parking.wakes.map(to_time);
    let due = match (count(false)?, count(true)?) {
        (Some(0), Some(0)) => Some(wakes.unwrap_or(now)),
        (Some(0), _) => Some(now),
        _ => wakes,
    };
    let updated = (!parking.asked.is_empty() || !parking.closed.is_empty()).then_some(now);
    let sql =
        "update rejoinder_task set worker = null, record = ?2, due = ?3, waits = ?3, deaths = 0, steps_at_death = 0,
        updated = coalesce(?4, updated) where id = ?1";
    execute(connection, sql, params![task, &*parking.record, due, updated])?;
    Ok(ClaimState::Held)
}

pub(crate) fn finish(connection: &Connection, claim: &Claim, with: &TaskEnd, now: Time) -> Result<ClaimState> {
    let task = claim.id.as_bytes();
    if is_held(connection, claim)? {
        end(connection, &claim.id, with, now)?;
        // So that a repetition is known.
        execute(connection, "update rejoinder_task set epoch = ?2 where id = ?1", params![task, claim.epoch])?;
        return Ok(ClaimState::Held);
    }
    let (status, outcome) = status(with)?;
    let sql = "select 1 from rejoinder_task
        where id = ?1 and worker is null and epoch = ?2 and status = ?3 and outcome is ?4";
    let ended = first::<i64>(connection, sql, params![task, claim.epoch, status, outcome])?;
    Ok(state(ended.is_some()))
}

pub(crate) fn release(connection: &Connection, claim: &Claim, due: Time) -> Result<()> {
    let sql = "update rejoinder_task set worker = null, due = ?4, epoch = epoch + 1
        where id = ?1 and worker = ?2 and epoch = ?3";
    let params = params![claim.id.as_bytes(), claim.worker.as_bytes(), claim.epoch, due];
    execute(connection, sql, params).map(drop)
}

/// The other workers, and whether their leases have ended.
pub(crate) fn others(connection: &Connection, by: WorkerId, now: Time) -> Result<Vec<(WorkerId, bool)>> {
    let sql = "select id, until <= ?2 from rejoinder_worker where id <> ?1";
    let read = |row: &Row<'_>| Ok((WorkerId::from_bytes(row.get(0)?), row.get(1)?));
    all(connection, sql, params![by.as_bytes(), now], read)
}

/// Buries workers whose leases have ended, and those whose processes have died. If the process still lives, it was frozen, for
/// example because the machine slept. This does not count as a death of its tasks.
pub(crate) fn bury(
    connection: &Connection,
    by: WorkerId,
    lives: &HashMap<WorkerId, Option<bool>>,
    deaths: u32,
    now: Time,
) -> Result<(Vec<TaskId>, Vec<WorkerId>)> {
    let (mut died, mut buried) = (Vec::new(), Vec::new());
    for (worker, has_ended) in others(connection, by, now)? {
        let lives = lives.get(&worker).copied().flatten();
        if !has_ended && lives != Some(false) {
            continue;
        }
        let sql = "update rejoinder_task set worker = null, due = ?2, waits = ?2, epoch = epoch + 1,
            deaths = iif(?3, deaths, iif(steps > steps_at_death, 1, deaths + 1)),
            steps_at_death = iif(?3, steps_at_death, steps)
            from (select id as dead, (select count(*) from rejoinder_step where task = id) as steps
                from rejoinder_task where worker = ?1)
            where id = dead returning id, deaths";
        let params = params![worker.as_bytes(), now, lives == Some(true)];
        let orphans = all(connection, sql, params, |row| Ok((id(row, 0)?, row.get::<_, u32>(1)?)))?;
        for (id, _) in orphans.into_iter().filter(|(_, times)| *times >= deaths) {
            end(connection, &id, &TaskEnd::Died, now)?;
            died.push(id);
        }
        execute(connection, "delete from rejoinder_worker where id = ?1", [worker.as_bytes()])?;
        buried.push(worker);
    }
    Ok((died, buried))
}

/// Whether there is something to sweep.
pub(crate) fn has_expired(connection: &Connection, now: Time) -> Result<bool> {
    Ok(first::<i64>(connection, "select 1 from rejoinder_task where expires <= ?1", [now])?.is_some())
}

/// Ends tasks whose time is up, and removes those that ended long ago; whether there are more.
pub(crate) fn sweep(connection: &Connection, now: Time) -> Result<(Vec<TaskId>, bool)> {
    let sql = "select id, status = 0 from rejoinder_task where expires <= ?1 limit ?2";
    let due = all(connection, sql, params![now, SWEPT], |row| Ok((id(row, 0)?, row.get::<_, bool>(1)?)))?;
    let has_more = due.len() == SWEPT as usize;
    let mut expired = Vec::new();
    for (id, is_open) in due {
        if is_open {
            end(connection, &id, &TaskEnd::Expired, now)?;
            expired.push(id);
        } else {
            execute(connection, "delete from rejoinder_task where id = ?1", [id.as_bytes()])?;
        }
    }
    Ok((expired, has_more))
}
