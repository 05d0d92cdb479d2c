//! Answers that do not fit: each is one of three tries, whatever comes between them.

use serde_json::Value;

use super::*;

/// Two questions at once.
#[tool]
pub(super) async fn pair(ctx: Context) -> Result<String, CallError> {
    let (Name { name }, Sure { sure }): (_, Sure) =
        tokio::try_join!(ctx.ask("who", Ask::user("Who?")), ctx.ask("sure", Ask::user("Sure?")))?;
    Ok(format!("{name} {sure}"))
}

/// The same, by hand.
#[tool]
async fn pair_by_hand(rounds: Rounds) -> Reply<String> {
    match (rounds.answer::<Name>("who"), rounds.answer::<Sure>("sure")) {
        (Some(Outcome::Accepted(who)), Some(Outcome::Accepted(Sure { sure }))) => {
            Reply::done(format!("{} {sure}", who.name))
        }
        (None, Some(_)) => Reply::ask("who", Ask::<Name>::user("Who?")),
        _ => Reply::ask("who", Ask::<Name>::user("Who?")).and("sure", Ask::<Sure>::user("Sure?")),
    }
}

/// The replies of a tool, round by round, to these answers.
async fn rounds(tool: &str, answers: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let client = Client::new(Server::new("tries", "1.0.0").tools(tools![pair, pair_by_hand])).answer("who", ada());
    let first = json!({ "name": tool, "arguments": {} });
    let mut replies = vec![client.request("tools/call", first.clone()).await.unwrap()];
    for answers in answers {
        let mut next = first.clone();
        next["requestState"] = replies.last().unwrap()["requestState"].clone();
        next["inputResponses"] = answers;
        replies.push(client.request("tools/call", next).await.unwrap());
    }
    replies
}

fn bad() -> Value {
    json!({ "action": "accept", "content": { "name": "" } })
}

fn sure() -> Value {
    json!({ "action": "accept", "content": { "sure": true } })
}

fn message(reply: &Value) -> &str {
    reply["inputRequests"]["who"]["params"]["message"].as_str().unwrap_or_else(|| panic!("not asked: {reply}"))
}

fn text(reply: &Value) -> &str {
    reply["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no result: {reply}"))
}

#[tokio::test]
async fn each_try_shows_the_reason_and_the_final_error_names_the_field() {
    for tool in ["pair", "pair_by_hand"] {
        let answers = [json!({ "who": bad(), "sure": sure() }), json!({ "who": bad() }), json!({ "who": bad() })];
        let replies = rounds(tool, answers).await;
        assert_eq!(message(&replies[0]), "Who?");
        for reply in &replies[1..3] {
            let reason = message(reply).strip_prefix("Who?\n\n").unwrap_or_else(|| panic!("{reply}"));
            assert!(reason.contains("`name`"), "{reason}");
            assert!(reply["inputRequests"].get("sure").is_none(), "what was answered is not asked again: {reply}");
        }
        assert_eq!(replies[3]["isError"], true);
        let error_text = text(&replies[3]);
        assert!(
            error_text.starts_with("the client sent no usable answer to `who`: ") && error_text.contains("`name`"),
            "{error_text}"
        );
    }
}

#[tokio::test]
async fn c34_a_missing_answer_does_not_reset_the_tries() {
    for tool in ["pair", "pair_by_hand"] {
        let without = || json!({ "sure": sure() });
        let answers = [json!({ "who": bad() }), without(), json!({ "who": bad() }), json!({}), json!({ "who": bad() })];
        let replies = rounds(tool, answers).await;
        assert!(replies[..5].iter().all(|reply| reply["inputRequests"]["who"].is_object()), "{replies:?}");
        assert!(text(&replies[5]).starts_with("the client sent no usable answer to `who`: "), "{tool}: {}", replies[5]);
    }
}

/// Accepts an answer before it asks.
#[tool]
async fn early(ctx: Context) -> Result<String, CallError> {
    let Name { name } = ctx.ask("who", Ask::user("Who?").allow_unsolicited()).await?;
    Ok(name)
}

#[tokio::test]
async fn r_l1_an_unsolicited_answer_that_does_not_fit_is_a_try_with_a_reason() {
    let client = Client::new(Server::new("tries", "1.0.0").tools(tools![early])).answer("who", ada());
    let mut replies = vec![json!({ "requestState": null })];
    for _ in 0..3 {
        let state = replies[replies.len() - 1]["requestState"].clone();
        let call =
            json!({ "name": "early", "arguments": {}, "inputResponses": { "who": bad() }, "requestState": state });
        replies.push(client.request("tools/call", call).await.unwrap());
    }
    for reply in &replies[1..3] {
        assert!(message(reply).starts_with("Who?\n\n`name` "), "{reply}");
    }
    assert!(text(&replies[3]).starts_with("the client sent no usable answer to `who`: "), "{}", replies[3]);
}
