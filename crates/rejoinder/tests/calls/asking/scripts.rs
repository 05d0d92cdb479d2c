//! The answers of the test client: always the same, one after the other, or none yet.

use rejoinder::testing::ClientAnswer;

use super::{tries::pair, *};

fn client() -> Client {
    Client::new(Server::new("scripts", "1.0.0").tools(tools![greet, pair]))
}

fn name(name: &str) -> ClientAnswer {
    ClientAnswer::accept(Name { name: name.into() })
}

#[tokio::test]
async fn a_bad_answer_can_be_followed_by_a_good_one() {
    in_both_eras(client().answers("who", [name(""), name("Ada")]), async |client| {
        let reply = client.call_tool("greet", json!({})).await.unwrap();
        assert_eq!(reply.text(), "Hello, Ada!");
        assert_eq!(reply.asked, [["who"], ["who"]]);
    })
    .await;
}

#[tokio::test]
async fn one_answer_for_each_of_several_calls() {
    let raw = ClientAnswer::with(json!({ "action": "accept", "content": { "name": "Eve" } }));
    let answers = [name("Ada"), ClientAnswer::decline(), ClientAnswer::cancel(), raw];
    in_both_eras(client().answers("who", answers), async |client| {
        let mut replies = Vec::new();
        for _ in 0..4 {
            replies.push(client.call_tool("greet", json!({})).await.unwrap().text());
        }
        let declined = "the user declined `who`";
        let left = "the user cancelled `who`";
        assert_eq!(replies, ["Hello, Ada!", declined, left, "Hello, Eve!"]);
    })
    .await;
}

#[tokio::test]
async fn a_clone_continues_with_the_remaining_answers() {
    in_both_eras(client().answers("who", ["Ada", "Bob", "Eve"].map(name)), async |client| {
        assert_eq!(client.call_tool("greet", json!({})).await.unwrap().text(), "Hello, Ada!");
        let clone = client.clone();
        assert_eq!(client.call_tool("greet", json!({})).await.unwrap().text(), "Hello, Bob!");
        assert_eq!(client.call_tool("greet", json!({})).await.unwrap().text(), "Hello, Eve!");
        assert_eq!(clone.call_tool("greet", json!({})).await.unwrap().text(), "Hello, Bob!");
    })
    .await;
}

#[tokio::test]
async fn a_question_after_the_last_answer_is_an_error() {
    in_both_eras(client().answers("who", [name("")]), async |client| {
        let error = client.call_tool("greet", json!({})).await.unwrap_err().to_string();
        let expected = "tools/call: it asks `who` more often than the test has answers (1): ";
        assert!(error.starts_with(expected), "{error}");
    })
    .await;
}

#[tokio::test]
async fn the_last_setting_of_a_key_wins() {
    let client = client().answers("who", [name("Ada")]).answer("who", Name { name: "Eve".into() });
    for _ in 0..3 {
        assert_eq!(client.call_tool("greet", json!({})).await.unwrap().text(), "Hello, Eve!");
    }
}

#[tokio::test]
async fn an_open_question_is_asked_again_without_the_answered_ones() {
    let sure = || ClientAnswer::accept(Sure { sure: true });
    let client = client().answers("who", [ClientAnswer::later(), name(""), ClientAnswer::later(), name("Ada")]);
    let reply = client.answers("sure", [sure()]).call_tool("pair", json!({})).await.unwrap();
    assert_eq!(reply.text(), "Ada true");
    assert_eq!(reply.asked, [vec!["who", "sure"], vec!["who"], vec!["who"], vec!["who"]]);
}

#[tokio::test]
async fn over_a_session_no_question_can_be_left_open() {
    let client = client().era(Era::Session).answers("who", [ClientAnswer::later(), name("Ada")]);
    let error = client.call_tool("greet", json!({})).await.unwrap_err().to_string();
    let expected = "tools/call: it asks `who` on a session, where `ClientAnswer::later` is not possible: ";
    assert!(error.starts_with(expected), "{error}");
}
