//! A value is made for all that take it; who only looks at it needs none of its own.

use std::path::{Path, PathBuf};

use super::*;

/// Not `Clone`.
#[resolver]
fn sure() -> Ask<Confirm> {
    Ask::user("Sure?")
}

#[tool]
async fn seen(#[resolve(sure)] sure: Option<&Confirm>, #[resolve(sure)] again: Outcome<&Confirm>) -> String {
    format!("{sure:?} {again:?}")
}

#[tokio::test]
async fn an_answer_is_seen_if_there_is_one() {
    let client = Client::new(Server::new("r", "1").tools(tools![seen]));
    in_both_eras(client.clone().answer("sure", Confirm { yes: true }), async |client| {
        let reply = client.call_tool("seen", json!({})).await.unwrap();
        assert_eq!(reply.text(), "Some(Confirm { yes: true }) Accepted(Confirm { yes: true })");
    })
    .await;
    in_both_eras(client.clone().decline("sure"), async |client| {
        assert_eq!(client.call_tool("seen", json!({})).await.unwrap().text(), "None Declined");
    })
    .await;
    in_both_eras(client.cancel("sure"), async |client| {
        assert_eq!(client.call_tool("seen", json!({})).await.unwrap().text(), "None Cancelled");
    })
    .await;
}

#[resolver]
fn text() -> String {
    "text".to_owned()
}

#[resolver]
fn words(#[resolve(text)] text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

#[resolver]
fn file(#[resolve(words)] words: &[String]) -> PathBuf {
    words.iter().collect()
}

#[tool]
fn lent(#[resolve(text)] text: &str, #[resolve(words)] words: &[String], #[resolve(file)] file: &Path) -> String {
    format!("{text} {words:?} {}", file.display())
}

#[tokio::test]
async fn texts_lists_and_paths_are_lent_as_such() {
    in_both_eras(Client::new(Server::new("r", "1").tools(tools![lent])), async |client| {
        assert_eq!(client.call_tool("lent", json!({})).await.unwrap().text(), r#"text ["text"] text"#);
    })
    .await;
}

#[resolver]
fn asked() -> Ask<String> {
    Ask::text("Which?")
}

#[tool]
fn needed(#[resolve(asked)] asked: &str) -> String {
    asked.to_owned()
}

#[tokio::test]
async fn declining_ends_the_call_of_who_needs_what_is_lent() {
    in_both_eras(Client::new(Server::new("r", "1").tools(tools![needed])).decline("asked"), async |client| {
        let reply = client.call_tool("needed", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the user declined `asked`");
    })
    .await;
}

#[resolver]
fn nickname() -> Ask<String> {
    Ask::text("A nickname?")
}

#[tool]
fn called(#[resolve(nickname)] name: Option<&str>, #[resolve(nickname)] outcome: Outcome<&str>) -> String {
    format!("{name:?} {outcome:?}")
}

#[tokio::test]
async fn a_text_that_may_be_declined_is_lent() {
    let client = Client::new(Server::new("r", "1").tools(tools![called]));
    in_both_eras(client.clone().answer("nickname", rejoinder::form::TextForm { text: "Ada".into() }), async |client| {
        let reply = client.call_tool("called", json!({})).await.unwrap();
        assert_eq!(reply.text(), r#"Some("Ada") Accepted("Ada")"#);
    })
    .await;
    in_both_eras(client.decline("nickname"), async |client| {
        assert_eq!(client.call_tool("called", json!({})).await.unwrap().text(), "None Declined");
    })
    .await;
}

/// Borrows arguments that may be absent.
#[resolver]
fn note(text: Option<&str>, tags: Option<&[String]>, count: Option<&u32>) -> String {
    format!("{text:?} {tags:?} {count:?}")
}

#[tool]
fn noted(text: Option<String>, tags: Option<Vec<String>>, count: Option<u32>, #[resolve(note)] note: &str) -> String {
    let _ = (text, tags, count);
    note.to_owned()
}

#[tokio::test]
async fn an_optional_argument_is_lent() {
    in_both_eras(Client::new(Server::new("r", "1").tools(tools![noted])), async |client| {
        let reply = client.call_tool("noted", json!({ "text": "a", "tags": ["b"], "count": 1 })).await.unwrap();
        assert_eq!(reply.text(), r#"Some("a") Some(["b"]) Some(1)"#);
        assert_eq!(client.call_tool("noted", json!({})).await.unwrap().text(), "None None None");
    })
    .await;
}
