//! The file as a store of tasks.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rejoinder::{
    BoxFuture,
    tasks::{
        Claim, ClaimState, Claimant, LeaseKeeper, NewTask, RunEnd, TaskEnd, TaskId, TaskJournal, TaskKeeper, TaskOwner,
        TaskPlaces, TaskRun, TaskRunner, TaskState, TaskStore, WorkerId,
    },
    testing::tasks::contract,
};
use rejoinder_sqlite::SqliteTasks;
use rusqlite::Connection;
use tokio_util::sync::CancellationToken;

const ADA: TaskOwner = TaskOwner([1; 20]);
const BOB: TaskOwner = TaskOwner([2; 20]);

const HOUR: Duration = Duration::from_secs(3600);

async fn open(path: &Path) -> SqliteTasks {
    let store = SqliteTasks::at(path);
    store.open().await.expect("it opens");
    store
}

fn claimant(worker: WorkerId) -> Claimant {
    Claimant { worker, tools: vec!["render".into()], of_owner: 100 }
}

fn new_task() -> NewTask {
    NewTask {
        id: TaskId::new(),
        tool: "render".into(),
        owner: ADA,
        origin: None,
        call: "the call".into(),
        record: "the record".into(),
        ttl: HOUR,
        keep: HOUR,
        poll: Duration::from_secs(2),
        most: TaskPlaces { in_all: 10_000, of_owner: 10_000 },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_keeps_the_contract() {
    let (folder, count) = (tempfile::tempdir().expect("a folder"), AtomicUsize::new(0));
    let path = || folder.path().join(format!("{}.db", count.fetch_add(1, Ordering::Relaxed)));
    contract(async || open(&path()).await).await;
}

#[tokio::test]
async fn nothing_is_touched_before_it_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteTasks::at(folder.path().join("tasks.db"));
    assert!(store.get(&ADA, &TaskId::new()).await.is_err(), "it is not open");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let error = SqliteTasks::at(folder.path().join("missing/tasks.db")).open().await.expect_err("there is no folder");
    assert!(error.to_string().contains("unable to open database file"), "{error}");
    store.open().await.expect("it opens");
    store.open().await.expect("it is open");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_open_a_new_file_at_once_and_all_they_write_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.db");
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let path = path.clone();
        writers.spawn(async move {
            let (store, mut ids) = (open(&path).await, Vec::new());
            for _ in 0..20 {
                ids.push(store.create(&new_task(), None).await.expect("there is room").snapshot.id);
            }
            ids
        });
    }
    let written = writers.join_all().await.concat();
    let store = open(&path).await;
    for id in written {
        assert!(store.get(&ADA, &id).await.expect("it answers").is_some());
    }
}

/// Each status of the golden file, and that work goes on with it.
async fn is_read(store: &SqliteTasks) {
    let id = |n| TaskId::from_bytes([n; 16]);
    let get = async |owner, n| store.get(&owner, &id(n)).await.expect("it answers").expect("it is there");
    for (n, end) in [
        (5, TaskEnd::Completed("a result".into())),
        (6, TaskEnd::Failed("an error".into())),
        (7, TaskEnd::Cancelled),
        (8, TaskEnd::Expired),
    ] {
        assert_eq!(get(ADA, n).await.state, TaskState::Ended(end));
    }
    assert_eq!(get(BOB, 9).await.state, TaskState::Ended(TaskEnd::Died));
    assert_eq!(get(ADA, 2).await.message, Some("halfway".into()));
    let TaskState::Open(open) = get(ADA, 3).await.state else { panic!("it waits") };
    assert_eq!(open.iter().map(|question| &*question.key).collect::<Vec<_>>(), ["size"]);
    let born =
        store.create(&NewTask { origin: Some("a state".into()), ..new_task() }, None).await.expect("it is there");
    assert_eq!(born.snapshot.id, id(1));
    let worker = WorkerId::new();
    store.join(worker, HOUR).await.expect("it joins");
    assert_eq!(store.bury(worker, 3).await.expect("it buries"), []);
    let claimed = store.claim(&claimant(worker), 10).await.expect("it answers").tasks;
    assert_eq!(claimed.iter().map(|task| task.run.id).collect::<Vec<_>>(), [id(1), id(2)], "one sleeps, and one waits");
    let running = &claimed[1];
    assert_eq!(running.claim, Claim { id: id(2), worker, epoch: 5 });
    let steps: Vec<_> = running.run.steps.iter().map(|(key, step)| (&**key, &step[..])).collect();
    assert_eq!(steps, [("submit", &b"7"[..]), ("lacks font", b"true")]);
    let answers = [("size".into(), "12".into())];
    let answered = store.answer(&ADA, &id(3), &answers, Some(&claimant(worker))).await.expect("it answers");
    let run = answered.expect("it is there").claimed.expect("it was the last").run;
    let asked: Vec<_> =
        run.questions.iter().map(|asked| (&*asked.key, asked.answer.as_deref(), asked.is_closed)).collect();
    assert_eq!(
        asked,
        [("font", Some(&b"???"[..]), true), ("font~2", Some(b"Inter"), false), ("size", Some(b"12"), false)]
    );
}

#[tokio::test]
async fn files_of_every_released_schema_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for (schema, dump) in [(1, include_str!("golden/schema_1.sql"))] {
        let path = folder.path().join(format!("{schema}.db"));
        Connection::open(&path).expect("a file").execute_batch(dump).expect("it is SQL");
        is_read(&open(&path).await).await;
    }
}

/// The tables, their columns and the indexes.
fn tables(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).expect("a file");
    let sql = "select coalesce(sql, name) from sqlite_schema order by name";
    let mut rows = connection.prepare(sql).expect("it is SQL");
    rows.query_map([], |row| row.get(0)).expect("it answers").collect::<Result<_, _>>().expect("it answers")
}

#[tokio::test]
async fn the_newest_golden_file_has_the_tables_of_a_new_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let [golden, new] = ["golden.db", "new.db"].map(|name| folder.path().join(name));
    Connection::open(&golden).expect("a file").execute_batch(include_str!("golden/schema_1.sql")).expect("it is SQL");
    drop(open(&new).await);
    assert_eq!(tables(&golden), tables(&new));
}

#[tokio::test]
async fn a_newer_file_is_refused_unless_it_says_that_this_build_may_use_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.db");
    drop(open(&path).await);
    let set = |sql| Connection::open(&path).expect("a file").execute_batch(sql).expect("it is SQL");
    set("update rejoinder_schema set version = 7, least = 1");
    drop(open(&path).await);
    set("update rejoinder_schema set least = 6");
    let error = SqliteTasks::at(&path).open().await.expect_err("it is too new");
    let expected = "the tasks are of schema 7, and this build knows up to 1: use a newer one";
    assert_eq!(error.to_string(), format!("the keeper of tasks failed: {expected}"));
}

/// Set in the environment of a process that [`a_dead_process_is_noticed_at_once`] starts.
const CHILD: &str = "REJOINDER_SQLITE_CHILD";

/// Holds a task until it is killed.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let (store, worker) = (open(Path::new(&path)).await, WorkerId::new());
    store.join(worker, HOUR).await.expect("it joins");
    let created = store.create(&new_task(), Some(&claimant(worker))).await.expect("there is room");
    let claim = created.claimed.expect("it is claimed").claim;
    assert_eq!(store.record(&claim, "submit", &"7".into()).await.expect("it answers"), ClaimState::Held);
    println!("\nholds it");
    std::future::pending::<()>().await;
}

/// A process that holds a task.
fn start_child(path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    let child = child.args(["--exact", "child", "--nocapture"]).env(CHILD, path).stdout(Stdio::piped());
    let mut child = child.spawn().expect("it starts");
    let said = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    assert!(said.map_while(Result::ok).any(|line| line == "holds it"), "the process holds a task");
    child
}

#[tokio::test]
async fn a_process_that_was_not_heard_and_lives_is_no_death() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.db");
    let mut child = start_child(&path);
    let (store, worker) = (open(&path).await, WorkerId::new());
    store.clock().advance(HOUR * 2);
    store.join(worker, HOUR).await.expect("it joins");
    // One death would be too many.
    assert_eq!(store.bury(worker, 1).await.expect("it buries"), []);
    let claimed = store.claim(&claimant(worker), 1).await.expect("it answers").tasks;
    assert_eq!(claimed[0].run.steps, [("submit".into(), "7".into())], "its task goes on elsewhere");
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
}

#[tokio::test]
async fn a_dead_process_is_noticed_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.db");
    let mut child = start_child(&path);
    let (store, worker) = (open(&path).await, WorkerId::new());
    store.join(worker, HOUR).await.expect("it joins");
    let claim = async || {
        store.bury(worker, 3).await.expect("it buries");
        store.claim(&claimant(worker), 1).await.expect("it answers").tasks
    };
    assert!(claim().await.is_empty(), "the process lives");
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    let claimed = claim().await;
    assert_eq!(claimed[0].run.steps, [("submit".into(), "7".into())], "its lease runs for another hour");
    let files = || std::fs::read_dir(folder.path()).expect("a folder").map(|file| file.expect("a file").file_name());
    let locks = || files().filter(|name| name.to_string_lossy().contains("-worker-")).count();
    assert_eq!(locks(), 1, "the file of the dead process is removed");
    store.leave(worker).await.expect("it leaves");
    assert_eq!(locks(), 0);
}

/// Ends each task at once.
struct AtOnce;

impl TaskRunner for AtOnce {
    fn tools(&self) -> Vec<Arc<str>> {
        vec!["render".into()]
    }

    fn run(&self, run: TaskRun, journal: Arc<dyn TaskJournal>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            journal.record("a step", "1".into()).await;
            journal.end(RunEnd::Completed(run.call)).await;
        })
    }

    fn changed(&self, _: &TaskId) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_serves_and_another_one_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.db");
    let [serves, works] = [(); 2].map(|()| Arc::new(LeaseKeeper::new(SqliteTasks::at(&path))));
    let stop = CancellationToken::new();
    let mut running = tokio::task::JoinSet::new();
    for (keeper, at_once) in [(&serves, 0), (&works, 4)] {
        keeper.open().await.expect("it opens");
        running.spawn(Arc::clone(keeper).work(Arc::new(AtOnce), at_once, stop.clone(), Duration::from_secs(5)));
    }
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(serves.create(new_task()).await.expect("there is room").id);
    }
    for id in ids {
        let ended = async || serves.get(&ADA, &id).await.expect("it answers").expect("it is there").state;
        let all = async {
            while ended().await != TaskState::Ended(TaskEnd::Completed("the call".into())) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), all).await.expect("it ends");
    }
    stop.cancel();
    running.join_all().await;
    let left = Connection::open(&path).expect("a file");
    let workers: i64 =
        left.query_row("select count(*) from rejoinder_worker", [], |row| row.get(0)).expect("it answers");
    assert_eq!(workers, 0, "who stops leaves");
}
