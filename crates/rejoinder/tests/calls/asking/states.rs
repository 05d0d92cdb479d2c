//! The settings of the state, as a client sees them.

use std::{
    sync::Mutex,
    time::{Duration, SystemTime},
};

use rejoinder::{
    BoxError, BoxFuture,
    auth::Principal,
    form::{ConfirmForm, TextForm},
    server::Limits,
    state::{ReplayStore, StatePolicy},
};
use serde_json::Value;

use super::{
    rounds::{accept, round},
    *,
};

const REFUSED: &str = "invalid_request_state";

/// A function with a state of a given size.
#[tool]
async fn carry(bytes: usize, ctx: Context) -> Result<String, CallError> {
    let load: String = ctx.once("load", || async { Ok("x".repeat(bytes)) }).await?;
    let Name { name } = ctx.ask("who", Ask::user("Who?")).await?;
    Ok(format!("{name} carries {}", load.len()))
}

/// A function that carries an answer.
#[tool]
async fn remember(ctx: Context) -> Result<String, CallError> {
    let who: Name = ctx.ask("who", Ask::user("Who?")).await?;
    let friend: Name = ctx.ask("friend", Ask::user("And their friend?")).await?;
    Ok(format!("{} {}", who.name.len(), friend.name))
}

fn client(server: Server) -> Client {
    Client::new(server.tools(tools![carry, remember])).answer("who", ada())
}

fn plain() -> Server {
    Server::new("states", "1.0.0")
}

#[tokio::test]
async fn a_state_over_the_limit_is_an_error() {
    let client = client(plain().state(StatePolicy::new().limit(2000)));
    let carried = client.call_tool("carry", json!({ "bytes": 1000 })).await.unwrap();
    assert_eq!(carried.text(), "Ada carries 1000");
    for (bytes, fits) in [(800, true), (2000, false)] {
        let client = client.clone().answer("who", Name { name: "x".repeat(bytes) }).answer("friend", ada());
        let reply = client.call_tool("remember", json!({})).await;
        if fits {
            assert_eq!(reply.unwrap().text(), "800 Ada");
            continue;
        }
        let (reply, expected) = (reply.unwrap(), "the client sent no usable answer to `who`: The answer is too long:");
        assert!(reply.is_error() && reply.text().starts_with(expected), "{}", reply.text());
    }
}

/// Keeps a state of a given size by hand.
#[tool]
async fn keep(bytes: usize, rounds: Rounds) -> Reply<usize> {
    match rounds.state::<String>() {
        None => Reply::resume("x".repeat(bytes)),
        Some(kept) => Reply::done(kept.len()),
    }
}

#[tokio::test]
async fn a_state_by_hand_over_the_limit_is_an_error() {
    let client = Client::new(plain().state(StatePolicy::new().limit(2000)).tools(tools![keep]));
    assert_eq!(client.call_tool("keep", json!({ "bytes": 1000 })).await.unwrap().text(), "1000");
    let error = client.call_tool("keep", json!({ "bytes": 2000 })).await.unwrap_err();
    let error = error.rpc().expect("a JSON-RPC error");
    assert_eq!(error.code, -32603);
    assert!(error.message.starts_with("the state of this call takes "), "{}", error.message);
    assert!(error.message.contains("bytes, and the limit is 2000 (`StatePolicy::limit`)"), "{}", error.message);
}

/// Charges for an essay, and asks again.
#[tool]
async fn print_essay(ctx: Context, counters: Dep<Counters>) -> Result<usize, CallError> {
    let text: String = ctx.ask("essay", Ask::text("Which text?").fallback("none".to_owned())).await?;
    ctx.once("charge", || async { Ok(counters.charges.fetch_add(1, Ordering::Relaxed)) }).await?;
    ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok(text.len())
}

/// The same by hand.
#[tool]
async fn print_by_hand(rounds: Rounds, counters: Dep<Counters>) -> Reply<usize> {
    match rounds.answer::<TextForm>("essay").and_then(Outcome::accepted) {
        None => Reply::ask("essay", Ask::text("Which text?")),
        Some(TextForm { text }) => {
            counters.charges.fetch_add(1, Ordering::Relaxed);
            Reply::done(text.len())
        }
    }
}

#[tokio::test]
async fn r3_m8_r3_l2_an_answer_that_is_too_long_is_asked_for_again_before_a_step_is_taken() {
    let limits = |answers| Limits::new().answers_size(answers);
    for (tool, bytes, limits, state, rounds) in [
        ("print_essay", 30_000, Limits::new(), 64 * 1024, 0),
        // More than an answer may have, on a session, where a message may be longer.
        ("print_essay", 50_000, Limits::new(), 64 * 1024, 3),
        ("print_by_hand", 50_000, Limits::new(), 64 * 1024, 3),
        ("print_essay", 500, limits(200), 64 * 1024, 3),
        // An answer that fits, but not into the state.
        ("print_essay", 5_000, Limits::new(), 5_000, 3),
        ("print_by_hand", 5_000, Limits::new(), 5_000, 3),
    ] {
        for era in [Era::Session, Era::Stateless] {
            let counters = Arc::new(Counters::default());
            let server =
                plain().limits(limits).state(StatePolicy::new().limit(state)).provide_arc(Arc::clone(&counters));
            let client = Client::new(server.tools(tools![print_essay, print_by_hand])).era(era);
            let client = client.answer("sure", ConfirmForm { yes: true });
            let client = client.answer("essay", TextForm { text: "x".repeat(bytes) });
            let reply = client.call_tool(tool, json!({})).await;
            let case = format!("{tool} {bytes} {era:?}: {reply:?}");
            let charged = counters.charges.load(Ordering::Relaxed);
            if rounds == 0 {
                assert_eq!((reply.unwrap().text(), charged), (bytes.to_string(), 1), "{case}");
                continue;
            }
            assert_eq!(charged, 0, "{case}");
            match reply {
                Ok(reply) => {
                    let expected = "the client sent no usable answer to `essay`: The answer is too long: it has ";
                    assert!(reply.is_error() && reply.text().starts_with(expected), "{case}");
                    assert_eq!(reply.asked.len(), rounds, "{case}");
                }
                Err(error) => assert_eq!((era, error.code()), (Era::Stateless, Some(-32602)), "{case}"),
            }
        }
    }
}

#[tokio::test]
async fn r3_m8_an_answer_that_is_too_long_is_no_reason_for_the_fallback() {
    let (asked, unasked) = (json!({ "elicitation": {} }), json!({}));
    let server = plain().state(StatePolicy::new().limit(5_000)).provide(Counters::default()).tools(tools![print_essay]);
    let client = Client::new(server);
    let able =
        |capabilities: &Value| client.clone().capabilities(serde_json::from_value(capabilities.clone()).unwrap());
    let first = round(&able(&asked), "print_essay", json!({}), json!({})).await.unwrap();
    let essay = json!({ "action": "accept", "content": { "text": "x".repeat(5_000) } });
    let rest = json!({ "requestState": first["requestState"], "inputResponses": { "essay": essay } });
    // It would be asked again, and this client cannot be asked.
    let (code, _) = round(&able(&unasked), "print_essay", json!({}), rest).await.unwrap_err();
    assert_eq!(code, -32021);
}

#[test]
fn r3_m8_the_size_of_answers_and_of_the_state_must_fit() {
    for (answers, state, fits) in
        [(32 * 1024, 64 * 1024, true), (64 * 1024, 64 * 1024, false), (64 * 1024, 64 * 1024 / 5 * 8 + 2048, true)]
    {
        let server = plain().limits(Limits::new().answers_size(answers)).state(StatePolicy::new().limit(state));
        let checked = server.check().map_err(|error| error.to_string());
        let expected = "`Limits::answers_size`: answers of 65536 bytes do not fit into the state of a call, which has room for \
                        41272: raise `StatePolicy::limit` to 106904, or lower this";
        assert_eq!(checked.is_ok(), fits, "{checked:?}");
        assert!(checked.err().is_none_or(|error| error.contains(expected)));
    }
}

#[tokio::test]
async fn the_default_limit_is_64_kib() {
    let client = client(plain());
    assert_eq!(client.call_tool("carry", json!({ "bytes": 47_000 })).await.unwrap().text(), "Ada carries 47000");
    let reply = client.call_tool("carry", json!({ "bytes": 49_152 })).await.unwrap();
    assert!(reply.text().contains("bytes with it, and the limit is 47460"), "{}", reply.text());
}

#[tokio::test]
async fn a_received_state_over_the_limit_is_refused() {
    let keys = || rejoinder::state::StateKeys::new([b"a key of 32 bytes for some tests"]).unwrap();
    let policy = || StatePolicy::new().keys(keys());
    let (wide, narrow) = (client(plain().state(policy())), client(plain().state(policy().limit(1000))));
    let arguments = json!({ "bytes": 1000 });
    let asked = round(&wide, "carry", arguments.clone(), json!({})).await.unwrap();
    let rest = json!({ "requestState": asked["requestState"], "inputResponses": accept("Ada") });
    let refused = Err((-32602, Some(json!({ "reason": REFUSED }))));
    assert_eq!(round(&narrow, "carry", arguments.clone(), rest.clone()).await, refused);
    assert!(round(&wide, "carry", arguments, rest).await.is_ok());
}

#[tokio::test]
async fn a_state_expires_after_its_ttl() {
    let short = client(plain().state(StatePolicy::new().ttl(Duration::from_nanos(1))));
    let long = client(plain().state(StatePolicy::new().ttl(Duration::from_hours(1))));
    for (client, is_good) in [(short, false), (long, true)] {
        let arguments = json!({ "bytes": 1 });
        let asked = round(&client, "carry", arguments.clone(), json!({})).await.unwrap();
        let rest = json!({ "requestState": asked["requestState"], "inputResponses": accept("Ada") });
        match round(&client, "carry", arguments, rest).await {
            Ok(result) => assert_eq!((&result["resultType"], is_good), (&json!("complete"), true)),
            Err(error) => assert_eq!((error, is_good), ((-32602, Some(json!({ "reason": REFUSED }))), false)),
        }
    }
}

/// A store of the application. It counts, and fails on request.
#[derive(Default)]
struct Ledger {
    spent: Mutex<Vec<([u8; 16], SystemTime)>>,
    is_down: std::sync::atomic::AtomicBool,
}

struct InLedger(Arc<Ledger>);

impl ReplayStore for InLedger {
    fn spend(&self, id: [u8; 16], until: SystemTime, _: Option<&Principal>) -> BoxFuture<'_, Result<bool, BoxError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            if self.0.is_down.load(Ordering::Relaxed) {
                return Err("the ledger is locked away".into());
            }
            let mut spent = self.0.spent.lock().unwrap();
            let is_new = spent.iter().all(|(other, _)| *other != id);
            spent.push((id, until));
            Ok(is_new)
        })
    }
}

#[tokio::test]
async fn c29_the_applications_store_decides_whether_a_state_was_used() {
    let ledger = Arc::new(Ledger::default());
    let replica = || {
        let keys = rejoinder::state::StateKeys::new([b"a key of 32 bytes for some tests"]).unwrap();
        let policy =
            StatePolicy::new().keys(keys).ttl(Duration::from_mins(5)).single_use(InLedger(Arc::clone(&ledger)));
        client(plain().state(policy))
    };
    let [one, two] = [replica(), replica()];
    let arguments = json!({ "bytes": 1 });
    let asked = async |client: &Client| {
        let asked = round(client, "carry", arguments.clone(), json!({})).await.unwrap();
        json!({ "requestState": asked["requestState"], "inputResponses": accept("Ada") })
    };
    let retry = async |client: &Client, rest: &Value| round(client, "carry", arguments.clone(), rest.clone()).await;
    let refused = Err((-32602, Some(json!({ "reason": REFUSED }))));

    let before = SystemTime::now();
    let rest = asked(&one).await;
    assert_eq!(ledger.spent.lock().unwrap().len(), 0, "asking spends nothing");
    assert!(retry(&one, &rest).await.is_ok());
    assert_eq!(retry(&one, &rest).await, refused);
    assert_eq!(retry(&two, &rest).await, refused, "nor at another replica with the same store");
    {
        let spent = ledger.spent.lock().unwrap();
        assert_eq!(spent.len(), 3);
        assert!(spent.iter().all(|(id, _)| *id == spent[0].0), "it is the same state each time");
        assert!(spent[0].1 >= before + Duration::from_mins(5), "it is remembered for as long as the state is good");
    }

    let rest = asked(&one).await;
    let (first, second) = tokio::join!(retry(&one, &rest), retry(&two, &rest));
    assert_ne!(first.is_ok(), second.is_ok(), "of two at once, one wins");

    let rest = asked(&one).await;
    ledger.is_down.store(true, Ordering::Relaxed);
    assert_eq!(retry(&one, &rest).await, refused, "what nobody can vouch for is refused");
    ledger.is_down.store(false, Ordering::Relaxed);
    assert!(retry(&one, &rest).await.is_ok(), "and was not spent");
}

/// Five questions, one after the other.
#[tool]
async fn guests(ctx: Context) -> Result<String, CallError> {
    let mut names = Vec::new();
    for number in 1..=5 {
        names.push(ctx.ask::<Name>(&format!("guest-{number}"), Ask::user("The next guest?")).await?.name);
    }
    Ok(names.join(", "))
}

#[tokio::test]
async fn a_state_of_four_answers_stays_under_a_kibibyte() {
    let server = plain().principal(|_| Some(Principal::new("me").with_issuer("client issuer"))).tools(tools![guests]);
    let client = Client::new(server).answer("guest-1", ada());
    let mut rest = json!({});
    for number in 1..=5 {
        let asked = round(&client, "guests", json!({}), rest).await.unwrap();
        let state = asked["requestState"].as_str().unwrap();
        assert!(state.len() < 1024, "{} bytes with {} answers", state.len(), number - 1);
        let name = "Augusta Ada King, Countess of Lovelace";
        let answer = json!({ "action": "accept", "content": { "name": name } });
        rest = json!({ "requestState": state, "inputResponses": { format!("guest-{number}"): answer } });
    }
    assert_eq!(round(&client, "guests", json!({}), rest).await.unwrap()["resultType"], "complete");
}

/// Takes a step before and after answers that fill the record.
#[tool]
async fn fill(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    ctx.once::<String, _>("catalog", || async { Ok("x".repeat(7000)) }).await?;
    let _: String = ctx.ask("a", Ask::text("A?")).await?;
    let _: String = ctx.ask("b", Ask::text("B?")).await?;
    ctx.once::<u32, _>("charge", || async { Ok(counters.charges.fetch_add(1, Ordering::Relaxed)) }).await?;
    let _: String = ctx.ask("c", Ask::text("C?")).await?;
    Ok("done".to_owned())
}

#[tokio::test]
async fn r3_m8_a_step_after_an_answer_that_was_accepted_has_room() {
    let text = |length: usize| TextForm { text: "y".repeat(length) };
    let (mut accepted, mut refused) = (0, 0);
    for last in (4_000..13_000).step_by(500) {
        let counters = Arc::new(Counters::default());
        let server = Server::new("shop", "1").provide_arc(Arc::clone(&counters)).tools(tools![fill]);
        let client = Client::new(server).answer("a", text(30_000)).answer("b", text(last)).answer("c", text(1));
        let reply = client.call_tool("fill", json!({})).await.unwrap();
        let charged = counters.charges.load(Ordering::Relaxed);
        if reply.is_error() {
            assert!(reply.text().contains("The answer is too long"), "{last}: {}", reply.text());
            refused += 1;
        } else {
            accepted += 1;
        }
        assert_eq!(charged, u32::from(!reply.is_error()), "{last}: {}", reply.text());
    }
    assert!(accepted > 0 && refused > 0, "{accepted} and {refused}");
}
