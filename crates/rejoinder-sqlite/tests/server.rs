//! Servers that keep their tasks in a SQLite file.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{fs, path::Path, time::Duration};

use rejoinder::{
    BuiltServer,
    form::TextForm,
    prelude::*,
    state::{StateKeys, StatePolicy},
    tasks::Tasks,
    testing::{Client, Filter, Notification},
};
use rejoinder_sqlite::SqliteTasks;
use rusqlite::Connection;
use serde_json::json;

/// Everything that a user or an author may want to keep to themselves.
const SECRETS: [&str; 5] = ["an-argument", "a-step", "a-question", "an-answer", "a-message"];

/// Takes a step, asks, and returns all that it knows.
#[tool(task)]
async fn render(project: String, ctx: Context) -> Result<String, CallError> {
    let job: String = ctx.once("submit", || async { Ok("a-step".to_owned()) }).await?;
    ctx.status("a-message").await;
    let font = ctx.ask("font", Ask::text("a-question?")).await?;
    Ok(format!("{project} {job} {font}"))
}

/// Remembers a header.
#[tool(task)]
async fn tenant(#[header("x-tenant")] tenant: String, ctx: Context) -> Result<String, CallError> {
    ctx.ask("sure", Ask::text("Sure?")).await?;
    Ok(tenant)
}

fn keys(byte: u8) -> StatePolicy {
    let key: Vec<u8> = (0..32).map(|index| byte.wrapping_add(index * 7)).collect();
    StatePolicy::new().keys(StateKeys::new([key]).unwrap())
}

fn tasks(path: &Path) -> Tasks {
    Tasks::new(SqliteTasks::at(path))
}

fn server(path: &Path, state: StatePolicy) -> BuiltServer {
    let server = Server::new("studio", "1.0.0").tools(tools![render, tenant]).tasks(tasks(path)).state(state);
    server.grace_period(Duration::from_secs(5)).build().unwrap()
}

fn client(server: BuiltServer) -> Client {
    let askable = serde_json::from_value(json!({ "elicitation": {} })).unwrap();
    Client::new(server).tasks().capabilities(askable)
}

fn inter() -> TextForm {
    TextForm { text: "an-answer".into() }
}

/// Whether any of the files contains the text.
fn contains(folder: &Path, text: &str) -> bool {
    let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}

#[tokio::test]
async fn p10_a_task_goes_on_in_the_server_that_starts_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let first = client(server(&path, keys(1)));
    let task = first.start_task("render", json!({ "project": "an-argument" })).await.unwrap();
    task.until_asked("font").await.unwrap();
    first.server().stop().await;

    let next = client(server(&path, keys(1)));
    let answers = json!({ "font": { "action": "accept", "content": { "text": "an-answer" } } });
    next.request("tasks/update", json!({ "taskId": task.id(), "inputResponses": answers })).await.unwrap();
    let shown = loop {
        let shown = next.request("tasks/get", json!({ "taskId": task.id() })).await.unwrap();
        if shown["status"] == "completed" {
            break shown;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(shown["result"]["content"][0]["text"], "an-argument a-step an-answer");
    next.server().stop().await;
}

#[tokio::test]
async fn two_servers_share_a_file_and_a_listener_hears_what_the_other_one_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let serves = Server::new("studio", "1.0.0").tools(tools![render]).tasks(tasks(&path).at_once(0)).state(keys(1));
    let serves = client(serves.build().unwrap());
    let works = server(&path, keys(1));
    works.start().await.unwrap();
    let task = serves.start_task("render", json!({ "project": "an-argument" })).await.unwrap();
    let mut heard = serves.listen(Filter::default().task(task.id())).await.unwrap();
    task.until_asked("font").await.unwrap();
    task.answer("font", inter()).await.unwrap();
    let ended = async {
        loop {
            let Some(Notification::Task(shown)) = heard.next().await else { panic!("it has ended") };
            if shown["status"] == "completed" {
                return shown;
            }
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
    assert_eq!(ended["result"]["content"][0]["text"], "an-argument a-step an-answer");
    works.stop().await;
}

#[tokio::test]
async fn with_keys_nothing_of_the_author_and_the_user_can_be_read_in_the_file() {
    for (state, is_readable) in [(keys(1), false), (StatePolicy::new(), true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.db");
        let server = Server::new("studio", "1.0.0").tools(tools![render]).tasks(tasks(&path)).state(state);
        let client = client(server.build().unwrap());
        let task = client.start_task("render", json!({ "project": "an-argument" })).await.unwrap();
        task.until_asked("font").await.unwrap();
        let parked = SECRETS.map(|secret| contains(folder.path(), secret));
        task.answer("font", inter()).await.unwrap();
        task.finish().await.unwrap();
        let ended = SECRETS.map(|secret| contains(folder.path(), secret));
        let readable: Vec<_> = parked.iter().zip(ended).map(|(parked, ended)| *parked || ended).collect();
        assert_eq!(readable, [is_readable; 5], "{SECRETS:?}");
        client.server().stop().await;
    }
}

#[tokio::test]
async fn a_sealed_column_that_is_moved_to_another_task_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let client = client(server(&path, keys(1)));
    let mine = client.start_task("render", json!({ "project": "mine" })).await.unwrap();
    let other = client.start_task("render", json!({ "project": "theirs" })).await.unwrap();
    mine.until_asked("font").await.unwrap();
    other.until_asked("font").await.unwrap();
    let file = Connection::open(&path).unwrap();
    let calls = |column: &str| {
        let sql = format!("select {column} from rejoinder_task order by created, rowid");
        let mut rows = file.prepare(&sql).unwrap();
        rows.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap().collect::<Result<Vec<_>, _>>().unwrap()
    };
    let (ids, calls) = (calls("id"), calls("call"));
    file.execute("update rejoinder_task set call = ?1 where id = ?2", (&calls[1], &ids[0])).unwrap();
    mine.answer("font", inter()).await.unwrap();
    other.answer("font", inter()).await.unwrap();
    assert_eq!(other.finish().await.unwrap().text(), "theirs a-step an-answer");
    let shown = mine.get().await.unwrap();
    assert_eq!((&shown["status"], shown.get("result")), (&json!("working"), None), "nobody can run it");
    client.server().stop().await;
}

#[tokio::test]
async fn tasks_that_were_sealed_with_other_keys_are_not_shown_and_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let first = client(server(&path, keys(1)));
    let task = first.start_task("render", json!({ "project": "mine" })).await.unwrap();
    task.until_asked("font").await.unwrap();
    let other = client(server(&path, keys(99)));
    let error = other.request("tasks/get", json!({ "taskId": task.id() })).await.unwrap_err();
    assert_eq!((error.code(), error.rpc().unwrap().status.as_u16()), (Some(-32603), 503));
    let answers = json!({ "font": { "action": "accept", "content": { "text": "an-answer" } } });
    let update = other.request("tasks/update", json!({ "taskId": task.id(), "inputResponses": answers })).await;
    assert_eq!(update.unwrap_err().rpc().unwrap().status.as_u16(), 503, "it takes no answer that nobody could read");
    task.answer("font", inter()).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "mine a-step an-answer", "who has the keys goes on");
    first.server().stop().await;
    other.server().stop().await;
}

#[tokio::test]
async fn a_header_is_kept_only_if_it_can_be_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let plain = || Server::new("studio", "1.0.0").tools(tools![tenant]).tasks(tasks(&path));
    let warnings = plain().check().unwrap();
    assert!(warnings.iter().any(|warning| warning.message.contains("`x-tenant`")), "{warnings:?}");
    let error = plain().build().unwrap().start().await.unwrap_err().to_string();
    assert!(error.contains("`tenant`") && error.contains("REJOINDER_STATE_KEYS"), "{error}");
    assert!(!path.exists(), "nothing is written");

    let client = client(plain().state(keys(1)).build().unwrap()).header("x-tenant", "acme-and-sons");
    let client = client.header("authorization", "Bearer never-kept");
    let task = client.start_task("tenant", json!({})).await.unwrap();
    task.until_asked("sure").await.unwrap();
    task.answer("sure", inter()).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "acme-and-sons");
    assert!(!contains(folder.path(), "acme-and-sons") && !contains(folder.path(), "never-kept"));
    client.server().stop().await;
}

#[tokio::test]
async fn the_graph_and_the_check_touch_no_file_and_a_file_that_cannot_be_opened_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("tasks.db");
    let server = || Server::new("studio", "1.0.0").tools(tools![render]).tasks(tasks(&path)).state(keys(1));
    assert!(server().check().unwrap().is_empty());
    assert!(server().graph().to_string().contains("render"));
    let error = server().build().unwrap().start().await.unwrap_err().to_string();
    assert!(error.contains("Server::tasks"), "{error}");
}

#[tokio::test]
async fn servers_of_other_names_leave_each_others_tasks_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let other = Server::new("another", "1.0.0").tools(tools![render]).tasks(tasks(&path)).state(keys(1));
    let other = other.build().unwrap();
    other.start().await.unwrap();
    let serves = Server::new("studio", "1.0.0").tools(tools![render]).tasks(tasks(&path).at_once(0)).state(keys(1));
    let client = client(serves.build().unwrap());
    let task = client.start_task("render", json!({ "project": "mine" })).await.unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(task.runs(), 0);
    assert_eq!(task.get().await.unwrap()["status"], "working");
    other.stop().await;
}
