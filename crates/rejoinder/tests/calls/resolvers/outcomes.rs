//! What consumers that look at the outcome see, and what a question leaves of a tool's own schema.

use rejoinder::ask::{Sample, Sampling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

#[resolver]
fn length(path: &str) -> usize {
    path.len()
}

#[resolver]
fn tried(path: &str) -> Result<String, CallError> {
    Ok(path.to_uppercase())
}

#[resolver]
fn haiku() -> Ask<Sample> {
    Ask::sample(Sampling::new("A haiku, please."))
}

#[tool]
fn outcomes(
    path: String,
    #[resolve(length)] length: Outcome<usize>,
    #[resolve(tried)] tried: Outcome<&String>,
    #[resolve(length)] optional: Option<usize>,
) -> String {
    format!("{path} {length:?} {tried:?} {optional:?}")
}

#[tool]
fn sampled(#[resolve(haiku)] haiku: Outcome<&Sample>) -> String {
    format!("{:?}", haiku.map(Sample::text))
}

#[tokio::test]
async fn e2_a_plain_value_is_accepted() {
    in_both_eras(Client::new(Server::new("r", "1").tools(tools![outcomes])), async |client| {
        let reply = client.call_tool("outcomes", json!({ "path": "abc" })).await.unwrap();
        assert_eq!(reply.text(), r#"abc Accepted(3) Accepted("ABC") Some(3)"#);
        assert_eq!(reply.asked.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn e2_so_is_a_sample() {
    let sample = json!({ "role": "assistant", "content": { "type": "text", "text": "sea" }, "model": "m" });
    in_both_eras(
        Client::new(Server::new("r", "1").tools(tools![sampled])).answer_with("haiku", sample),
        async |client| {
            assert_eq!(client.call_tool("sampled", json!({})).await.unwrap().text(), r#"Accepted("sea")"#);
        },
    )
    .await;
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
struct Booked {
    nights: u32,
    guest: String,
}

#[resolver]
fn guest() -> Ask<Name> {
    Ask::user("For whom?")
}

#[tool]
fn book(nights: u32, #[resolve(guest)] guest: &Name) -> Json<Booked> {
    Json(Booked { nights, guest: guest.name.clone() })
}

/// The same without a question.
#[tool]
fn book_for(nights: u32, guest: String) -> Json<Booked> {
    Json(Booked { nights, guest })
}

#[tokio::test]
async fn e7_a_question_does_not_change_the_output_schema_and_is_not_an_output() {
    let client = Client::new(Server::new("r", "1").tools(tools![book, book_for])).answer("guest", ada());
    let [asking, plain] = &client.list_tools().await.unwrap()[..] else { panic!("two tools") };
    assert!(asking.output_schema.is_some());
    assert_eq!(asking.output_schema, plain.output_schema);

    let params = json!({ "name": "book", "arguments": { "nights": 2 } });
    let asked = client.request("tools/call", params).await.unwrap();
    let mut fields: Vec<_> = asked.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["_meta", "inputRequests", "requestState", "resultType"]);

    in_both_eras(client, async |client| {
        let booked: Booked = client.call_tool("book", json!({ "nights": 2 })).await.unwrap().structured().unwrap();
        assert_eq!(booked, Booked { nights: 2, guest: "Ada".into() });
    })
    .await;
}
