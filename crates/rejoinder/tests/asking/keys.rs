//! One key, one question: in a round, whichever way it is asked.

use super::*;

/// Another question under the same key, after the first was answered.
#[tool]
async fn clash_in_turn(ctx: Context) -> Result<String, ToolError> {
    let Name { name } = ctx.ask("who", Ask::user("Who?")).await?;
    let Sure { sure } = ctx.ask("who", Ask::user("Sure?")).await?;
    Ok(format!("{name} {sure}"))
}

/// Another question under the same key, beside the first.
#[tool]
async fn clash_beside(ctx: Context) -> Result<String, ToolError> {
    let (Name { name }, Sure { sure }) =
        tokio::try_join!(ctx.ask("who", Ask::user("Who?")), ctx.ask("who", Ask::user("Sure?")))?;
    Ok(format!("{name} {sure}"))
}

/// The same question again.
#[tool]
async fn again(ctx: Context) -> Result<String, ToolError> {
    let ask = || ctx.ask::<Name>("who", Ask::user("Who?"));
    let (one, two) = tokio::try_join!(ask(), ask())?;
    Ok(format!("{} {} {}", one.name, two.name, ask().await?.name))
}

#[tokio::test]
async fn two_questions_under_one_key_are_the_authors_mistake() {
    let server = Server::new("keys", "1.0.0").tools(tools![clash_beside, clash_in_turn]);
    in_both_eras(Client::new(server).answer("who", ada()), async |client| {
        for tool in ["clash_beside", "clash_in_turn"] {
            let reply = client.call(tool, json!({})).await.unwrap();
            assert!(reply.is_error(), "{tool}");
            assert_eq!(reply.text(), "two questions are asked under the key `who`: give one another key", "{tool}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_same_question_under_the_same_key_is_asked_once() {
    let server = Server::new("keys", "1.0.0").tools(tools![again]);
    in_both_eras(Client::new(server).answer("who", ada()), async |client| {
        let reply = client.call("again", json!({})).await.unwrap();
        assert_eq!(reply.text(), "Ada Ada Ada");
        assert_eq!(reply.asked, [["who"]]);
    })
    .await;
}
