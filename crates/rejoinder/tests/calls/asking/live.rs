//! Questions over data that changes between the rounds of a call.

use std::sync::atomic::AtomicBool;

use rejoinder::form::ConfirmForm;

use super::*;

/// What is left in stock. Each look finds one fewer, down to a limit.
struct Stock {
    looks: AtomicU32,
    limit: u32,
}

impl Stock {
    fn left(&self) -> u32 {
        100 - self.looks.fetch_add(1, Ordering::Relaxed).min(self.limit)
    }
}

/// Shows what is left.
#[tool]
async fn order(ctx: Context, stock: Dep<Stock>) -> Result<bool, CallError> {
    ctx.ask("sure", Ask::confirm(format!("{} left. Order?", stock.left()))).await
}

/// Shows what is left, and asks about something that does not change.
#[tool]
async fn order_pinned(item: String, ctx: Context, stock: Dep<Stock>) -> Result<bool, CallError> {
    let question = Ask::confirm(format!("Order {item}? ({} left)", stock.left()));
    ctx.ask("sure", question.pinned_to(item)).await
}

fn shop(changes: u32) -> Client {
    let stock = Stock { looks: AtomicU32::new(0), limit: changes };
    let server = Server::new("shop", "1.0.0").provide(stock).tools(tools![order, order_pinned]);
    Client::new(server).answer("sure", ConfirmForm { yes: true })
}

#[tokio::test]
async fn r_m5_a_question_may_change_five_times() {
    for era in [Era::Stateless, Era::Session] {
        let reply = shop(5).era(era).call_tool("order", json!({})).await.unwrap();
        assert_eq!(reply.text(), "true", "{era:?}");
        // On a session the function runs once, so the text cannot change.
        assert_eq!(reply.asked.len(), if era == Era::Session { 1 } else { 6 });
    }
    let reply = shop(6).call_tool("order", json!({})).await.unwrap();
    assert!(reply.is_error());
    let expected = "the text of question `sure` changes every round, so its answer can never match; remove what changes, \
                    such as a timestamp or the order of a list, or use `Ask::pinned_to`";
    assert_eq!(reply.text(), expected);
}

#[tokio::test]
async fn r_m5_an_answer_counts_for_the_text_that_it_is_pinned_to() {
    for era in [Era::Stateless, Era::Session] {
        let reply = shop(100).era(era).call_tool("order_pinned", json!({ "item": "tea" })).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.asked.len()), ("true", 1), "{era:?}");
    }
}

/// Two questions under one key, with the same pinned text or with different ones.
#[tool]
async fn twice(pins: [String; 2], ctx: Context) -> Result<bool, CallError> {
    let [one, two] = pins;
    let one = ctx.ask("sure", Ask::confirm("3 left. Order?").pinned_to(one)).await?;
    let two = ctx.ask("sure", Ask::confirm("2 left. Order?").pinned_to(two)).await?;
    Ok(one && two)
}

#[tokio::test]
async fn r_m5_another_pinned_text_is_another_question() {
    let client =
        Client::new(Server::new("shop", "1.0.0").tools(tools![twice])).answer("sure", ConfirmForm { yes: true });
    in_both_eras(client, async |client| {
        let same = client.call_tool("twice", json!({ "pins": ["tea", "tea"] })).await.unwrap();
        assert_eq!((same.text().as_str(), same.asked.len()), ("true", 1));
        let other = client.call_tool("twice", json!({ "pins": ["tea", "coffee"] })).await.unwrap();
        assert!(other.text().starts_with("two different questions use the key `sure`"), "{}", other.text());
    })
    .await;
}

/// Whether the warehouse has to be chosen.
#[derive(Default)]
struct Choose(AtomicBool);

/// Known at first.
#[resolver]
fn warehouse(choose: Dep<Choose>) -> Ask<String> {
    if choose.0.load(Ordering::Relaxed) { Ask::text("Which warehouse?") } else { Ask::known("Hamburg".to_owned()) }
}

/// Asks, and needs the warehouse.
#[resolver]
fn address(#[resolve(warehouse)] _from: &str) -> Ask<String> {
    Ask::text("Where to?")
}

/// Asks next, and then the warehouse is no longer known.
#[resolver]
fn gift(#[resolve(address)] _address: &str, choose: Dep<Choose>) -> Ask<bool> {
    choose.0.store(true, Ordering::Relaxed);
    Ask::confirm("Is it a gift?")
}

#[tool]
async fn send(#[resolve(warehouse)] from: &str, #[resolve(address)] to: &str, #[resolve(gift)] gift: bool) -> String {
    format!("{from} to {to}, gift: {gift}")
}

#[tokio::test]
async fn r_m8_answers_stay_recorded_when_a_resolver_below_them_asks_again() {
    let text = |text: &str| rejoinder::form::TextForm { text: text.to_owned() };
    for (era, sent, asked) in [
        (Era::Stateless, "Kiel to Bergen, gift: true", &["address", "gift", "warehouse"][..]),
        (Era::Session, "Hamburg to Bergen, gift: true", &["address", "gift"]),
    ] {
        let client = Client::new(Server::new("post", "1.0.0").provide(Choose::default()).tools(tools![send]))
            .answer("warehouse", text("Kiel"))
            .answer("address", text("Bergen"))
            .answer("gift", ConfirmForm { yes: true });
        let reply = client.era(era).call_tool("send", json!({})).await.unwrap();
        assert_eq!(reply.text(), sent, "{era:?}");
        assert_eq!(reply.asked.concat(), asked, "{era:?}");
    }
}
