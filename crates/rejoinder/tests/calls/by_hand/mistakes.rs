//! Mistakes in rounds by hand, each reported in a sentence.

use super::*;

/// A question that `Reply::ask` does not accept.
#[tool]
async fn mistaken(_rounds: Rounds) -> Reply<()> {
    Reply::ask("who", Ask::known(true))
}

/// Another one: an answer that may come before the question.
#[tool]
async fn allow_unsolicited(_rounds: Rounds) -> Reply<()> {
    Reply::ask("who", Ask::confirm("Who?").allow_unsolicited())
}

/// The same key twice.
#[tool]
async fn twice(_rounds: Rounds) -> Reply<()> {
    Reply::ask("who", Ask::confirm("Who?")).and("who", Ask::confirm("Really?"))
}

/// A state that could not be read in the next round.
#[tool]
async fn endless(rounds: Rounds) -> Reply<String> {
    match rounds.state::<Value>() {
        None => Reply::resume((0..128).fold(json!(1), |inner, _| json!([inner]))),
        Some(kept) => Reply::done(format!("{kept:?}")),
    }
}

/// Two questions under one key: one asked in the function, one by hand.
#[tool]
async fn clash(ctx: Context, _rounds: Rounds) -> Result<Reply<()>, CallError> {
    let _: Name = ctx.ask("who", Ask::user("Who pays?")).await?;
    Ok(Reply::ask("who", Ask::confirm("Sure?")))
}

/// A choice of a list that is known only at run time.
#[tool]
async fn branch(rounds: Rounds) -> Reply<String> {
    match rounds.answer::<Name>("branch") {
        Some(_) => Reply::done("chosen".to_owned()),
        None => Reply::ask("branch", Ask::choice("Which?", ["main", "next"])),
    }
}

pub(super) fn tools() -> Vec<rejoinder::Tool> {
    tools![mistaken, allow_unsolicited, twice, endless, clash]
}

#[tokio::test]
async fn mistakes_are_reported() {
    in_both_eras(Client::new(server()).answer("who", name("Ada")), async |client| {
        let reply = client.call_tool("mistaken", json!({})).await.unwrap();
        assert!(
            reply.text().starts_with("`Reply::ask` (question `who`) cannot use `Ask::known` or `fallback`"),
            "{}",
            reply.text()
        );
        let reply = client.call_tool("allow_unsolicited", json!({})).await.unwrap();
        assert!(
            reply.text().starts_with("`Reply::ask` (question `who`) cannot use `allow_unsolicited`"),
            "{}",
            reply.text()
        );
        let reply = client.call_tool("endless", json!({})).await.unwrap();
        assert_eq!(
            reply.text(),
            "the state for the next round cannot be recorded: it cannot be written as JSON and read again (see the server \
             log)"
        );
        for tool in ["twice", "clash"] {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert_eq!(reply.text(), "two different questions use the key `who`: use another key for one of them, and a new key in each iteration of a loop", "{tool}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_question_whose_answer_cannot_be_checked_is_refused() {
    for era in [Era::Stateless, Era::Session] {
        let client = Client::new(Server::new("choices", "1").tools(tools![branch])).era(era).decline("branch");
        let reply = client.call_tool("branch", json!({})).await.unwrap();
        let expected = "`Reply::ask` (question `branch`) needs a form that has a type";
        assert!(reply.is_error() && reply.text().starts_with(expected), "{}", reply.text());
    }
}
