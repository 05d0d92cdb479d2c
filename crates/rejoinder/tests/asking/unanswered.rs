//! A question without an answer: nothing in the function can take it for one.

use std::time::Duration;

use super::*;

/// How many tasks wait for an answer.
#[derive(Default)]
struct Waiting(AtomicU32);

/// Counts while it lives.
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

/// Takes no for an answer.
#[tool]
async fn ignored(ctx: Context) -> String {
    let name = ctx.ask("who", who()).await.ok();
    name.map_or_else(|| "nobody".to_owned(), |Name { name }| name)
}

/// Looks at every way to answer.
#[tool]
async fn matched(ctx: Context) -> String {
    match ctx.try_ask("who", who()).await {
        Ok(Outcome::Accepted(Name { name })) => name,
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

/// Waits for whatever comes first.
#[tool]
async fn selected(ctx: Context) -> Result<String, CallError> {
    tokio::select! {
        name = ctx.ask("who", who()) => Ok(name?.name),
        () = std::future::pending() => Ok("nobody".to_owned()),
    }
}

/// Waits for an hour.
#[tool]
async fn timed(ctx: Context) -> Result<String, CallError> {
    let answer = tokio::time::timeout(Duration::from_secs(3600), ctx.ask("who", who())).await;
    Ok(answer??.name)
}

/// Asks, and needs no answer.
#[tool]
async fn overtaken(ctx: Context) -> Result<String, CallError> {
    tokio::select! {
        biased;
        name = ctx.ask("who", who()) => Ok(name?.name),
        () = std::future::ready(()) => Ok("nobody".to_owned()),
    }
}

/// Asks in a task of its own.
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
    /// What the task got for an answer.
    got: std::sync::Mutex<Option<String>>,
}

/// Leaves a task behind that asks.
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

/// What a tool says in the end, having asked once. The limit only stops a test that hangs.
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
async fn it_cannot_be_swallowed() {
    asked_once("ignored").await;
    asked_once("matched").await;
}

#[tokio::test]
async fn it_goes_out_although_something_else_is_waited_for_beside_it() {
    asked_once("selected").await;
    asked_once("timed").await;
}

#[tokio::test]
async fn it_does_not_go_out_if_the_function_ends_without_it() {
    let reply = client().0.call_tool("overtaken", json!({})).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.asked.len()), ("nobody", 0));
}

#[tokio::test]
async fn it_goes_out_from_a_task_too() {
    asked_once("spawned").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whichever_thread_the_task_runs_on() {
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
async fn also_if_nobody_waits_for_the_task() {
    for era in [Era::Stateless, Era::Session] {
        let outlives = Arc::new(Outlives::default());
        let server = Server::new("unanswered", "1.0.0").provide_arc(Arc::clone(&outlives));
        let client = Client::new(server.tools(tools![left_behind])).answer("who", ada()).era(era);
        // It comes back with the question, whichever way that travels, and nobody answers.
        let _ = client.request("tools/call", json!({ "name": "left_behind", "arguments": {} })).await;
        outlives.end.notify_one();
        for _ in 0..1000 {
            if outlives.got.lock().unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let told = "this round of the call has ended: nothing can be asked or recorded in it";
        assert_eq!(outlives.got.lock().unwrap().as_deref(), Some(told), "{era:?}");
    }
}

#[tokio::test]
async fn a_plain_request_of_the_test_client_answers_nothing() {
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
