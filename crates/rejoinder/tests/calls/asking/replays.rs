//! What runs again: each round of a stateless call starts the function from the top, and a function that takes another path
//! than before is noticed.

use std::sync::Mutex;

use serde_json::Value;

use super::*;
use crate::logged::Logged;

#[derive(Elicit)]
struct Amount {
    #[elicit(min = 1)]
    amount: u32,
}

/// Asks in the caller's language, which no state binds, charges, and asks again.
#[tool]
async fn order(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let text = if ctx.header("accept-language") == Some("de") { "Wie viel?" } else { "How many?" };
    let Amount { amount } = ctx.ask("amount", Ask::user(text)).await?;
    let charged: u32 = ctx
        .once("charge", || async {
            counters.charges.fetch_add(amount, Ordering::Relaxed);
            Ok(amount)
        })
        .await?;
    let Name { name } = ctx.ask("who", Ask::user("Who?")).await?;
    Ok(format!("{amount} delivered and {charged} charged to {name}"))
}

/// The same with the question in a resolver.
#[resolver]
fn amount(ctx: Context) -> Ask<Amount> {
    Ask::user(if ctx.header("accept-language") == Some("de") { "Wie viel?" } else { "How many?" })
}

#[tool]
async fn order_resolved(
    #[resolve(amount)] amount: &Amount,
    ctx: Context,
    counters: Dep<Counters>,
) -> Result<String, CallError> {
    let charged: u32 = ctx
        .once("charge", || async {
            counters.charges.fetch_add(amount.amount, Ordering::Relaxed);
            Ok(amount.amount)
        })
        .await?;
    let Name { name } = ctx.ask("who", Ask::user("Who?")).await?;
    Ok(format!("{} delivered and {charged} charged to {name}", amount.amount))
}

#[tokio::test]
async fn a_h2_an_answer_that_led_to_a_step_cannot_change() {
    for tool in ["order", "order_resolved"] {
        let counters = Arc::new(Counters::default());
        let server = Server::new("shop", "1").provide_arc(Arc::clone(&counters)).tools(tools![order, order_resolved]);
        let capabilities = serde_json::from_value(json!({ "elicitation": {} })).unwrap();
        let english = Client::new(server).capabilities(capabilities);
        let german = english.clone().header("accept-language", "de");
        let call = async |client: &Client, before: &Value, answers: Value| {
            let mut params = json!({ "name": tool, "arguments": {} });
            if before["requestState"].is_string() {
                params["requestState"] = before["requestState"].clone();
                params["inputResponses"] = answers;
            }
            client.request("tools/call", params).await.unwrap()
        };
        let amount = |amount: u32| json!({ "amount": { "action": "accept", "content": { "amount": amount } } });
        let first = call(&english, &Value::Null, json!({})).await;
        let charged = call(&english, &first, amount(1)).await;
        assert_eq!(charged["inputRequests"]["who"]["method"], "elicitation/create", "{charged}");
        for answers in [json!({}), amount(1000)] {
            let reply = call(&german, &charged, answers).await;
            assert_eq!(reply["isError"], true, "{reply}");
            assert_eq!(
                reply["content"][0]["text"],
                "the text of question `amount` changed after a step was taken with its answer, and the step cannot be \
                 taken again; read what the question shows in `ctx.once`, or use `Ask::pinned_to`"
            );
        }
        let who = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
        let done = call(&english, &charged, who).await;
        assert_eq!(done["content"][0]["text"], "1 delivered and 1 charged to Ada");
        assert_eq!(counters.charges.load(Ordering::Relaxed), 1);
    }
}

/// Charges for what it could not ask, and goes on with a page, which it can.
#[tool]
async fn deliver(inside: bool, ctx: Context) -> Result<String, CallError> {
    let ask = || ctx.ask("amount", Ask::text(how_many(&ctx)).fallback("1".to_owned()));
    let (amount, paid): (String, String) = if inside {
        let paid: String = ctx.once("charge", ask).await?;
        (ask().await?, paid)
    } else {
        let amount = ask().await?;
        (amount.clone(), ctx.once("charge", || async { Ok(amount) }).await?)
    };
    ctx.ask("page", Ask::url("https://shop.example/address", "Where to?")).await?;
    Ok(format!("{amount} delivered and {paid} charged"))
}

fn how_many(ctx: &Context) -> &'static str {
    if ctx.header("accept-language") == Some("de") { "Wie viel?" } else { "How many?" }
}

#[resolver]
fn amount_or_one(ctx: Context) -> Ask<String> {
    Ask::text(how_many(&ctx)).fallback("1".to_owned())
}

#[tool]
async fn deliver_resolved(#[resolve(amount_or_one)] amount: &String, ctx: Context) -> Result<String, CallError> {
    let paid: String = ctx.once("charge", || async { Ok(amount.clone()) }).await?;
    ctx.ask("page", Ask::url("https://shop.example/address", "Where to?")).await?;
    Ok(format!("{amount} delivered and {paid} charged"))
}

/// The same with an error that the function handles.
#[tool]
async fn deliver_anyway(ctx: Context) -> Result<String, CallError> {
    let amount: String = ctx.ask("amount", Ask::text(how_many(&ctx))).await.unwrap_or_else(|_| "1".to_owned());
    let paid: String = ctx.once("charge", || async { Ok(amount.clone()) }).await?;
    ctx.ask("page", Ask::url("https://shop.example/address", "Where to?")).await?;
    Ok(format!("{amount} delivered and {paid} charged"))
}

#[tokio::test]
async fn r3_m2_a_fallback_that_a_step_used_stays() {
    for (tool, key, inside) in [
        ("deliver", "amount", false),
        ("deliver", "amount", true),
        ("deliver_resolved", "amount_or_one", false),
        ("deliver_anyway", "amount", false),
    ] {
        let client = Client::new(Server::new("shop", "1").tools(tools![deliver, deliver_resolved, deliver_anyway]));
        let able = |capabilities| client.clone().capabilities(serde_json::from_value(capabilities).unwrap());
        let only_pages = able(json!({ "elicitation": { "url": {} } }));
        let forms_too = able(json!({ "elicitation": { "url": {}, "form": {} } }));
        let arguments = if tool == "deliver" { json!({ "inside": inside }) } else { json!({}) };
        let call = async |client: &Client, before: &Value, answers: Value| {
            let mut params = json!({ "name": tool, "arguments": arguments });
            if before["requestState"].is_string() {
                params["requestState"] = before["requestState"].clone();
                params["inputResponses"] = answers;
            }
            client.request("tools/call", params).await.unwrap()
        };
        let first = call(&only_pages, &Value::Null, json!({})).await;
        assert!(first["inputRequests"]["page"].is_object(), "{tool}: {first}");
        let second = call(&forms_too, &first, json!({})).await;
        assert_eq!(second["inputRequests"].as_object().unwrap().len(), 1, "{tool}: {second}");
        let many = json!({ "action": "accept", "content": { "text": "1000" } });
        let third = call(&forms_too, &second, json!({ key: many, "page": { "action": "accept" } })).await;
        assert_eq!(third["content"][0]["text"], "1 delivered and 1 charged", "{tool}");
        let reworded = call(&forms_too.header("accept-language", "de"), &second, json!({})).await;
        let text = reworded["content"][0]["text"].as_str().unwrap();
        let expected = format!("the text of question `{key}` changed after a step was taken with its fallback");
        assert!(text.starts_with(&expected), "{tool}: {text}");
    }
}

#[tokio::test]
async fn a_h2_on_a_session_a_question_keeps_its_text() {
    let server = Server::new("shop", "1").provide(Counters::default()).tools(tools![order, order_resolved]);
    let client = Client::new(server).answer("amount", Amount { amount: 2 }).answer("who", ada());
    in_both_eras(client, async |client| {
        for tool in ["order", "order_resolved"] {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert_eq!(reply.text(), "2 delivered and 2 charged to Ada");
        }
    })
    .await;
}

/// The open orders, which change while the user answers.
#[derive(Default)]
struct Orders(Mutex<Vec<&'static str>>);

impl Orders {
    fn new(orders: &[&'static str]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(orders.to_vec())))
    }

    /// The open orders. The first is closed by somebody else after this.
    fn open(&self) -> Vec<String> {
        let mut orders = self.0.lock().unwrap();
        let open = orders.iter().map(|&order| order.to_owned()).collect();
        if !orders.is_empty() {
            orders.remove(0);
        }
        open
    }
}

/// Loops over what changes between the rounds.
#[tool]
async fn ship_changing(ctx: Context, orders: Dep<Orders>) -> Result<String, CallError> {
    let orders = orders.open();
    for order in &orders {
        ctx.once(&format!("pack {order}"), || async { Ok(()) }).await?;
        ctx.ask::<Sure>(&format!("ship {order}"), Ask::user(format!("Ship {order}?"))).await?;
    }
    Ok(orders.join(" "))
}

/// Loops over what it has read once.
#[tool]
async fn ship(ctx: Context, orders: Dep<Orders>) -> Result<String, CallError> {
    let orders: Vec<String> = ctx.once("orders", || async { Ok(orders.open()) }).await?;
    for order in &orders {
        ctx.once(&format!("pack {order}"), || async { Ok(()) }).await?;
        ctx.ask::<Sure>(&format!("ship {order}"), Ask::user(format!("Ship {order}?"))).await?;
    }
    Ok(orders.join(" "))
}

fn shipping() -> Client {
    let server = Server::new("shop", "1").provide_arc(Orders::new(&["tea", "cup"])).tools(tools![ship, ship_changing]);
    Client::new(server).answer("ship tea", Sure { sure: true }).answer("ship cup", Sure { sure: true })
}

#[tokio::test]
async fn a_function_that_takes_another_path_is_logged_and_fails_a_test() {
    let (logged, _guard) = Logged::here();
    let error = shipping().call_tool("ship_changing", json!({})).await.unwrap_err();
    for expected in [
        "did not reach the answer to `ship cup` and the answer to `ship tea` and step `pack cup` and step `pack tea`, which",
        "read what decides its path, such as what it loops over, in `ctx.once`",
    ] {
        assert!(error.to_string().contains(expected), "{error}");
    }
    let logged = logged.text();
    assert!(
        logged.contains("step `pack tea` is recorded, but the last run of the function did not reach it"),
        "{logged}"
    );

    let reply = shipping().allow_other_paths().call_tool("ship_changing", json!({})).await.unwrap();
    assert_eq!(reply.text(), "", "there was nothing left to loop over");
    let reply = shipping().era(Era::Session).call_tool("ship_changing", json!({})).await.unwrap();
    assert_eq!(reply.text(), "tea cup", "on a session it runs once");
}

#[tokio::test]
async fn a_function_that_reads_what_it_loops_over_once_takes_the_same_path() {
    in_both_eras(shipping(), async |client| {
        let client = client.replace_arc(Orders::new(&["tea", "cup"]));
        assert_eq!(client.call_tool("ship", json!({})).await.unwrap().text(), "tea cup");
    })
    .await;
}

/// Asks and takes a step inside a step, of which later rounds see the result only.
#[tool]
async fn nested(ctx: Context) -> Result<String, CallError> {
    let receipt: String = ctx
        .once("order", || async {
            let Name { name } = ctx.ask("who", Ask::user("Who?")).await?;
            let number: u32 = ctx.once("number", || async { Ok(7) }).await?;
            Ok(format!("{name} {number}"))
        })
        .await?;
    ctx.ask::<Sure>("sure", Ask::user("Sure?")).await?;
    Ok(receipt)
}

#[tokio::test]
async fn what_a_recorded_step_contains_need_not_be_reached() {
    let client = Client::new(Server::new("shop", "1").tools(tools![nested]));
    in_both_eras(client.answer("who", ada()).answer("sure", Sure { sure: true }), async |client| {
        assert_eq!(client.call_tool("nested", json!({})).await.unwrap().text(), "Ada 7");
    })
    .await;
}

/// A loop that forgets to change the key.
#[tool]
async fn charge_each(items: Vec<String>, ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    for _ in items {
        // It ends the call, although the error is ignored.
        let _ = ctx.once("charge", || async { Ok(counters.charges.fetch_add(1, Ordering::Relaxed)) }).await;
    }
    Ok("all charged".to_owned())
}

#[tokio::test]
async fn one_key_for_two_steps_of_a_run_ends_the_call() {
    let counters = Arc::new(Counters::default());
    let client = Client::new(Server::new("shop", "1").provide_arc(Arc::clone(&counters)).tools(tools![charge_each]));
    in_both_eras(client, async |client| {
        counters.charges.store(0, Ordering::Relaxed);
        let reply = client.call_tool("charge_each", json!({ "items": ["tea", "cup"] })).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(
            reply.text(),
            "the function uses step `charge` twice in one run: use a new key in each iteration of a loop, or \
             `ctx.once_shared` where both mean the same step"
        );
        assert_eq!(counters.charges.load(Ordering::Relaxed), 1);
    })
    .await;
    let detached =
        charge_each(vec!["tea".into(), "cup".into()], Context::detached(), Dep::new(Counters::default())).await;
    assert_eq!(detached.unwrap(), "all charged", "a unit test gets the error");
}

/// Asks inside a shared step, for which another step waits.
#[tool]
async fn ask_in_a_shared_step(ctx: Context) -> Result<String, CallError> {
    let shared = || ctx.once_shared("shared", || async { Ok(ctx.ask::<Name>("who", Ask::user("Who?")).await?.name) });
    let (one, other): (String, String) = tokio::try_join!(shared(), ctx.once("order", shared))?;
    Ok(format!("{one} {other}"))
}

#[tokio::test]
async fn a_shared_step_that_asks_fails() {
    let client = Client::new(Server::new("shop", "1").tools(tools![ask_in_a_shared_step])).answer("who", ada());
    in_both_eras(client, async |client| {
        let reply = client.call_tool("ask_in_a_shared_step", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the shared step `shared` asks `who`: ask before the step, or use `ctx.once`");
    })
    .await;
}

/// A step that fails first. Its failure is not recorded, so the function may take it again.
#[tool]
async fn retry(ctx: Context, counters: Dep<Counters>) -> Result<u32, CallError> {
    let charge = || async {
        let charges = counters.charges.fetch_add(1, Ordering::Relaxed);
        if charges == 0 { Err(CallError::new("try again")) } else { Ok(charges) }
    };
    match ctx.once("charge", charge).await {
        Ok(charged) => Ok(charged),
        Err(_) => ctx.once("charge", charge).await,
    }
}

#[tokio::test]
async fn a_step_that_failed_may_be_taken_again() {
    in_both_eras(
        Client::new(Server::new("shop", "1").tools(tools![retry]).provide(Counters::default())),
        async |client| {
            let client = client.replace(Counters::default());
            assert_eq!(client.call_tool("retry", json!({})).await.unwrap().text(), "1");
        },
    )
    .await;
}

#[resolver]
fn who() -> Ask<Name> {
    Ask::user("Who?")
}

/// A resolver asks before the body starts; the body asks itself.
#[tool]
async fn counted(#[resolve(who)] who: &Name, ctx: Context) -> Result<String, CallError> {
    ctx.ask::<Sure>("sure", Ask::user("Sure?")).await?;
    Ok(who.name.clone())
}

#[tokio::test]
async fn the_reply_has_the_number_of_runs() {
    let client = Client::new(Server::new("shop", "1").tools(tools![counted]));
    let client = client.answer("who", ada()).answer("sure", Sure { sure: true });
    for (era, runs) in [(Era::Stateless, 2), (Era::Session, 1)] {
        let reply = client.clone().era(era).call_tool("counted", json!({})).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.runs), ("Ada", runs), "{era:?}");
    }
}
