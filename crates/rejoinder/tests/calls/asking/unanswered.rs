//! A question without an answer ends the round, whatever the function does.

use std::time::Duration;

use super::*;

/// The number of tasks that wait for an answer.
#[derive(Default)]
struct Waiting(AtomicU32);

/// Counts itself until it is dropped.
struct Waits(Dep<Waiting>);

impl Waits {
    fn new(waiting: &Dep<Waiting>) -> Self {
        waiting.0.fetch_add(1, Ordering::Relaxed);
        Self(waiting.clone())
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn who() -> Ask<Name> {
    Ask::user("Who?")
}

/// Treats an error as a no.
#[tool]
async fn ignored(ctx: Context) -> String {
    let name = ctx.ask("who", who()).await.ok();
    name.map_or_else(|| "nobody".to_owned(), |Name { name }| name)
}

/// Handles every outcome.
#[tool]
async fn matched(ctx: Context) -> String {
    match ctx.try_ask("who", who()).await {
        Ok(Outcome::Accepted(Name { name })) => name,
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

/// Selects between the answer and something else.
#[tool]
async fn selected(ctx: Context) -> Result<String, CallError> {
    tokio::select! {
        name = ctx.ask("who", who()) => Ok(name?.name),
        () = std::future::pending() => Ok("nobody".to_owned()),
    }
}

/// Waits an hour beside the question.
#[tool]
async fn timed(ctx: Context) -> Result<String, CallError> {
    let answer = tokio::time::timeout(Duration::from_secs(3600), ctx.ask("who", who())).await;
    Ok(answer??.name)
}

/// Asks, and does not use the answer.
#[tool]
async fn overtaken(ctx: Context) -> Result<String, CallError> {
    tokio::select! {
        biased;
        name = ctx.ask("who", who()) => Ok(name?.name),
        () = std::future::ready(()) => Ok("nobody".to_owned()),
    }
}

/// Asks in a spawned task.
#[tool]
async fn spawned(ctx: Context, waiting: Dep<Waiting>) -> Result<String, CallError> {
    let task = tokio::spawn(async move {
        let _waits = Waits::new(&waiting);
        ctx.ask("who", who()).await
    });
    Ok(task.await??.name)
}

/// A task that outlives its call.
#[derive(Default)]
struct Outlives {
    /// Lets the function end.
    end: tokio::sync::Notify,
    /// The result that the task got.
    got: std::sync::Mutex<Option<String>>,
}

/// Spawns a task that asks and outlives the function.
#[tool]
async fn left_behind(ctx: Context, outlives: Dep<Outlives>) {
    let task = outlives.clone();
    tokio::spawn(async move {
        let answer = ctx.ask("who", who()).await;
        *task.got.lock().unwrap() = Some(answer.map_or_else(|error| error.to_string(), |Name { name }| name));
    });
    outlives.end.notified().await;
}

fn client() -> (Client, Arc<Waiting>) {
    let waiting = Arc::new(Waiting::default());
    let server = Server::new("unanswered", "1.0.0").provide_arc(Arc::clone(&waiting));
    let server = server.tools(tools![ignored, matched, selected, timed, overtaken, spawned]);
    (Client::new(server).answer("who", ada()), waiting)
}

/// The result of a tool that asks once. The limit only stops a test that hangs.
async fn asked_once(tool: &str) {
    in_both_eras(client().0, async |client| {
        let reply = tokio::time::timeout(Duration::from_secs(20), client.call_tool(tool, json!({}))).await;
        let reply = reply.expect("a reply").unwrap();
        assert_eq!((reply.text().as_str(), reply.is_error()), ("Ada", false));
        assert_eq!(reply.asked, [["who"]]);
    })
    .await;
}

#[tokio::test]
async fn an_open_question_cannot_be_ignored() {
    asked_once("ignored").await;
    asked_once("matched").await;
}

#[tokio::test]
async fn a_question_goes_out_while_the_function_waits_for_something_else() {
    asked_once("selected").await;
    asked_once("timed").await;
}

#[tokio::test]
async fn a_question_does_not_go_out_if_the_function_ends_without_its_answer() {
    let reply = client().0.call_tool("overtaken", json!({})).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.asked.len()), ("nobody", 0));
}

#[tokio::test]
async fn a_question_of_a_task_goes_out() {
    asked_once("spawned").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_question_of_a_task_on_another_thread_goes_out() {
    let (client, _) = client();
    for _ in 0..300 {
        let reply = tokio::time::timeout(Duration::from_secs(20), client.call_tool("spawned", json!({}))).await;
        assert_eq!(reply.expect("a reply").unwrap().text(), "Ada");
    }
}

#[tokio::test]
async fn a_task_that_asked_ends_with_its_round() {
    let (client, waiting) = client();
    in_both_eras(client, async |client| {
        let call = client.call_tool("spawned", json!({}));
        tokio::time::timeout(Duration::from_secs(20), call).await.expect("a reply").unwrap();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(waiting.0.load(Ordering::Relaxed), 0);
    })
    .await;
}

#[tokio::test]
async fn a_detached_task_that_asked_ends_with_its_round() {
    for era in [Era::Stateless, Era::Session] {
        let outlives = Arc::new(Outlives::default());
        let server = Server::new("unanswered", "1.0.0").provide_arc(Arc::clone(&outlives));
        let client = Client::new(server.tools(tools![left_behind])).answer("who", ada()).era(era);
        // The question is left unanswered in either era.
        let _ = client.request("tools/call", json!({ "name": "left_behind", "arguments": {} })).await;
        outlives.end.notify_one();
        for _ in 0..1000 {
            if outlives.got.lock().unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let expected = "this round of the call has ended: nothing can be asked or recorded in it";
        assert_eq!(outlives.got.lock().unwrap().as_deref(), Some(expected), "{era:?}");
    }
}

#[tokio::test]
async fn a_raw_request_of_the_test_client_does_not_answer() {
    let client = Client::new(Server::new("asking", "1").tools(tools![ignored])).decline("who");
    let params = json!({ "name": "ignored" });
    let round = client.request("tools/call", params.clone()).await.unwrap();
    assert_eq!(round["resultType"], "input_required");
    let error = client.era(Era::Session).request("tools/call", params).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("tools/call: it asks; only `call_tool`, `get_prompt` and `read_resource` answer: "),
        "{error}"
    );
}

/// Asks with a long text.
#[tool]
async fn wordy(text: String, ctx: Context) -> Result<String, CallError> {
    let sure: bool = ctx.ask("sure", Ask::confirm(text.repeat(4))).await?;
    Ok(sure.to_string())
}

#[tokio::test]
async fn a3_h1_a_question_over_a_session_for_which_there_is_no_room_fails() {
    for (memory, expected) in
        [(100_000, "the user declined `sure`"), (20_000, "the client could not be asked `sure`: too many held bytes")]
    {
        let server = Server::new("words", "1.0.0").tools(tools![wordy]);
        let server = server.limits(rejoinder::server::Limits::new().memory(memory));
        let client = Client::new(server).era(Era::Session).decline("sure");
        let reply = client.call_tool("wordy", json!({ "text": "x".repeat(8_000) })).await.unwrap();
        assert!(reply.is_error() && reply.text().starts_with(expected), "{}", reply.text());
    }
}
