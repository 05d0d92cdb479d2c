//! Steps (`ctx.once`): what must not happen twice happens once, in every round and both eras.

use std::{collections::BTreeMap, sync::OnceLock, time::Duration};

use super::*;

impl Counters {
    /// Something slow and expensive.
    async fn charge(&self) -> Result<u32, CallError> {
        let receipt = self.charges.fetch_add(1, Ordering::Relaxed) + 100;
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        Ok(receipt)
    }

    /// The number of charges that started, and that finished.
    fn charged(&self) -> (u32, u32) {
        (self.charges.load(Ordering::Relaxed), self.runs.load(Ordering::Relaxed))
    }
}

/// The same step again, later in the same round.
#[tool]
async fn in_turn(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let one: u32 = ctx.once_shared("charge", || counters.charge()).await?;
    let two: u32 = ctx.once_shared("charge", || counters.charge()).await?;
    Ok(format!("{one} {two}"))
}

/// The same step twice, concurrently.
#[tool]
async fn side_by_side(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let charge = || ctx.once_shared("charge", || counters.charge());
    let (one, two): (u32, u32) = tokio::try_join!(charge(), charge())?;
    Ok(format!("{one} {two}"))
}

/// A question beside a slow step.
#[tool]
async fn beside_a_question(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let (Name { name }, receipt): (_, u32) =
        tokio::try_join!(ctx.ask("who", Ask::user("Who?")), ctx.once("charge", || counters.charge()))?;
    Ok(format!("{name} {receipt}"))
}

/// The same, with the step in a spawned task.
#[tool]
async fn in_a_task(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let inner = ctx.clone();
    let task = tokio::spawn(async move { inner.once("charge", || counters.charge()).await });
    let (name, receipt) = tokio::join!(ctx.ask("who", Ask::user("Who?")), task);
    let (Name { name }, receipt): (_, u32) = (name?, receipt??);
    Ok(format!("{name} {receipt}"))
}

/// A step that asks before it does anything.
#[tool]
async fn that_asks(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    ctx.once("order", || async {
        let Name { name } = ctx.ask("who", Ask::user("Who?")).await?;
        Ok(format!("{name} {}", counters.charge().await?))
    })
    .await
}

/// A step within itself, through another step.
#[tool]
async fn within_itself(ctx: Context, counters: Dep<Counters>) -> Result<u32, CallError> {
    let charge = || ctx.once("charge", || counters.charge());
    ctx.once("charge", || async {
        // After an await, it may run on another thread.
        tokio::task::yield_now().await;
        ctx.once("order", charge).await
    })
    .await
}

/// The same key again beside a step, after one, and in a step of a call within the call.
#[tool]
async fn beside_itself(deeper: u8, ctx: Context, client: Dep<OnceLock<Client>>) -> Result<String, CallError> {
    let step = || async {
        tokio::task::yield_now().await;
        let Some(deeper) = deeper.checked_sub(1) else { return Ok("the bottom".to_owned()) };
        let client = client.get().expect("the client of the test");
        Ok(client.call_tool("beside_itself", json!({ "deeper": deeper })).await?.text())
    };
    let (one, two): (String, String) = tokio::try_join!(ctx.once_shared("dive", step), ctx.once_shared("dive", step))?;
    assert_eq!(one, two);
    ctx.once_shared("dive", step).await
}

/// One key for two types.
#[tool]
async fn retyped(ctx: Context) -> Result<u32, CallError> {
    ctx.once("word", || async { Ok("seven".to_owned()) }).await?;
    ctx.once_shared("word", || async { Ok(7) }).await
}

/// A value that JSON cannot represent.
#[tool]
async fn unwritable(ctx: Context) -> Result<(), CallError> {
    ctx.once("map", || async { Ok(BTreeMap::from([((1, 2), 3)])) }).await.map(|_: BTreeMap<(u8, u8), u8>| ())
}

/// A share, which may be null.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Share {
    of_all: Option<f64>,
}

/// NaN, alone or in a struct where it would be read as null.
#[tool]
async fn share(alone: bool, ctx: Context) -> Result<String, CallError> {
    let of_all = std::hint::black_box(0.0) / 0.0;
    if alone {
        return Ok(ctx.once("share", || async { Ok(of_all) }).await?.to_string());
    }
    let Share { of_all } = ctx.once("share", || async { Ok(Share { of_all: Some(of_all) }) }).await?;
    Ok(format!("{of_all:?}"))
}

/// Continues although its step could not be recorded, twice.
#[tool]
async fn careless(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    for _ in 0..2 {
        let charged = ctx.once("charge", || async {
            counters.charge().await?;
            Ok(f64::NAN)
        });
        let _ = charged.await;
    }
    Ok(ctx.ask("who", Ask::<Name>::user("Who pays?")).await?.name)
}

fn steps() -> (Client, Arc<Counters>) {
    let counters = Arc::new(Counters::default());
    let server = Server::new("steps", "1.0.0").provide_arc(Arc::clone(&counters));
    let server = server.tools(tools![in_turn, side_by_side, beside_a_question, in_a_task, that_asks]);
    (
        Client::new(server.tools(tools![within_itself, retyped, unwritable, share, careless])).answer("who", ada()),
        counters,
    )
}

/// The reply of a tool in each era, which must have charged once.
async fn charged_once(tool: &str, text: &str) {
    for era in [Era::Stateless, Era::Session] {
        let (client, counters) = steps();
        let reply = client.era(era).call_tool(tool, json!({})).await.unwrap();
        assert_eq!(reply.text(), text, "{era:?}");
        assert_eq!(counters.charged(), (1, 1), "{era:?}");
    }
}

#[tokio::test]
async fn a_shared_step_is_taken_once_in_a_round() {
    charged_once("in_turn", "100 100").await;
}

#[tokio::test]
async fn a_step_that_cannot_be_recorded_ends_the_call_even_if_the_error_is_ignored() {
    charged_once("careless", &unrecordable("charge")).await;
}

#[tokio::test]
async fn a_concurrent_use_of_a_shared_step_waits_for_it() {
    charged_once("side_by_side", "100 100").await;
}

#[tokio::test]
async fn a_round_does_not_end_during_a_step() {
    charged_once("beside_a_question", "Ada 100").await;
}

#[tokio::test]
async fn a_round_does_not_end_during_a_step_in_a_task() {
    charged_once("in_a_task", "Ada 100").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_round_does_not_end_during_a_step_on_another_thread() {
    for _ in 0..300 {
        let (client, counters) = steps();
        let reply = tokio::time::timeout(Duration::from_secs(20), client.call_tool("in_a_task", json!({}))).await;
        assert_eq!(reply.expect("a reply").unwrap().text(), "Ada 100");
        assert_eq!(counters.charged(), (1, 1));
    }
}

#[tokio::test]
async fn a_step_that_asks_is_taken_after_the_answer() {
    charged_once("that_asks", "Ada 100").await;
}

#[tokio::test]
async fn a_step_that_contains_itself_is_the_authors_mistake() {
    in_both_eras(steps().0, async |client| {
        let reply = tokio::time::timeout(Duration::from_secs(20), client.call_tool("within_itself", json!({}))).await;
        let reply = reply.expect("a reply").unwrap();
        assert!(reply.is_error());
        let expected = "step `charge` is nested inside itself, which is a deadlock: use another key";
        assert_eq!(reply.text(), expected);
    })
    .await;
}

#[tokio::test]
async fn the_same_step_beside_itself_or_in_another_call_is_allowed() {
    let itself = Arc::new(OnceLock::new());
    let server = Server::new("steps", "1.0.0").provide_arc(Arc::clone(&itself)).tools(tools![beside_itself]);
    in_both_eras(Client::new(server), async |client| {
        itself.get_or_init(|| client.clone());
        let reply = client.call_tool("beside_itself", json!({ "deeper": 3 })).await.unwrap();
        assert_eq!(reply.text(), "the bottom");
    })
    .await;
}

#[tokio::test]
async fn a_step_that_cannot_be_recorded_or_read_is_the_authors_mistake() {
    in_both_eras(steps().0, async |client| {
        let reply = client.call_tool("retyped", json!({})).await.unwrap();
        assert!(reply.is_error());
        let expected =
            "the recorded result of step `word` does not have the type that the step has now: use another key";
        assert_eq!(reply.text(), expected);
        let reply = client.call_tool("unwritable", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), unrecordable("map"));
        let reply = client.call_tool("share", json!({ "alone": true })).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), unrecordable("share"));
        let reply = client.call_tool("share", json!({ "alone": false })).await.unwrap();
        assert_eq!(reply.text(), "None", "the value is what a later round would read");
    })
    .await;
}

fn unrecordable(step: &str) -> String {
    format!(
        "the result of step `{step}` cannot be recorded: it cannot be written as JSON and read again (see the server log)"
    )
}

/// A list in a list in a list, so many deep.
#[tool]
async fn deep(levels: u8, ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let nested = (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let charged = ctx.once("charge", || async {
        counters.charge().await?;
        Ok(nested)
    });
    charged.await?;
    ctx.ask("who", Ask::<Name>::user("Who pays?")).await.map(|who| who.name)
}

/// A result of so many bytes.
#[tool]
async fn large(bytes: usize, ctx: Context, scope: Scope, ends: Dep<Ends>) -> Result<String, CallError> {
    scope.defer(move |end| async move { ends.0.lock().unwrap().push(end) });
    let charged = ctx.once("charge", || async { Ok("x".repeat(bytes)) }).await;
    // Whatever the function does with the error, the call has ended.
    let length = charged.map_or(0, |charged| charged.len());
    let who = ctx.ask("who", Ask::<Name>::user("Who pays?")).await?;
    Ok(format!("{} {length}", who.name))
}

/// How rounds ended.
#[derive(Default)]
struct Ends(std::sync::Mutex<Vec<CallEnd>>);

/// What its author wrote, and what JSON keeps of it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Receipt {
    cents: u32,
    #[serde(skip)]
    note: String,
}

/// A step whose value has a part that is not recorded, with or without a question after it.
#[tool]
async fn partly(asks: bool, ctx: Context) -> Result<String, CallError> {
    let receipt = ctx.once("charge", || async { Ok(Receipt { cents: 100, note: "thanks".to_owned() }) }).await?;
    if asks {
        let _: Name = ctx.ask("who", Ask::user("Who pays?")).await?;
    }
    Ok(format!("{receipt:?}"))
}

#[tokio::test]
async fn r_m1_a_m7_a_step_that_is_nested_too_deeply_ends_the_call_when_it_is_recorded() {
    for era in [Era::Stateless, Era::Session] {
        for (levels, text) in [(120, "Ada".to_owned()), (127, "Ada".to_owned()), (128, unrecordable("charge"))] {
            let counters = Arc::new(Counters::default());
            let server = Server::new("steps", "1.0.0").provide_arc(Arc::clone(&counters)).tools(tools![deep]);
            let client = Client::new(server).answer("who", ada()).era(era);
            let reply = client.call_tool("deep", json!({ "levels": levels })).await.unwrap();
            assert_eq!(reply.text(), text, "{era:?} {levels}");
            assert_eq!(counters.charged(), (1, 1), "{era:?} {levels}");
        }
    }
}

#[tokio::test]
async fn r_m4_a_step_that_is_too_large_ends_the_call_when_it_is_recorded() {
    for era in [Era::Stateless, Era::Session] {
        for (bytes, is_error, ends) in
            [(40_000, false, &[CallEnd::PendingAfterSteps, CallEnd::Succeeded][..]), (70_000, true, &[CallEnd::Failed])]
        {
            let log = Arc::new(Ends::default());
            let server = Server::new("steps", "1.0.0").provide_arc(Arc::clone(&log)).tools(tools![large]);
            let client = Client::new(server).answer("who", ada()).era(era);
            let reply = client.call_tool("large", json!({ "bytes": bytes })).await.unwrap();
            let text = reply.text();
            assert_eq!(reply.is_error(), is_error, "{era:?}: {text}");
            assert!(
                !is_error
                    || text
                        .starts_with("the result of step `charge` cannot be recorded: the record of this call takes"),
                "{text}"
            );
            let ends = if era == Era::Session && !is_error { &ends[1..] } else { ends };
            assert_eq!(*log.0.lock().unwrap(), ends, "{era:?}");
        }
    }
}

#[tokio::test]
async fn r_m7_the_value_of_a_step_is_the_same_in_every_round() {
    let client = Client::new(Server::new("steps", "1.0.0").tools(tools![partly])).answer("who", ada());
    in_both_eras(client, async |client| {
        for asks in [true, false] {
            let reply = client.call_tool("partly", json!({ "asks": asks })).await.unwrap();
            assert_eq!(reply.text(), r#"Receipt { cents: 100, note: "" }"#);
        }
    })
    .await;
}
