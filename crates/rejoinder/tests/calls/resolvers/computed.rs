//! The value that a resolver computes takes precedence over recorded answers.

use super::*;

/// Which round of the call this is.
#[derive(Default)]
struct Round(AtomicU32);

/// Counts the rounds: it is the only one that everything else waits for.
#[resolver]
fn round(rounds: Dep<Round>) -> u32 {
    rounds.0.fetch_add(1, Ordering::Relaxed) + 1
}

/// Asks, until the register has the owner.
#[resolver]
fn owner(#[resolve(round)] round: u32) -> Ask<Name> {
    if round < 3 { Ask::user("Who owns it?") } else { Ask::known(Name { name: "the register".into() }) }
}

#[resolver]
fn colour() -> Ask<Name> {
    Ask::user("Which colour?")
}

/// Makes a second round with a question.
#[resolver]
fn shade(#[resolve(colour)] colour: &Name) -> Ask<Name> {
    Ask::user(format!("Which {}?", colour.name))
}

#[tool]
fn paint(#[resolve(owner)] owner: Outcome<Name>, #[resolve(shade)] shade: &Name) -> String {
    format!("{:?} {}", owner.map(|owner| owner.name), shade.name)
}

fn client() -> Client {
    let red = || Name { name: "red".into() };
    let server = Server::new("computed", "1").provide(Round::default()).tools(tools![paint]);
    Client::new(server).answer("colour", red()).answer("shade", red())
}

#[tokio::test]
async fn d6_a_computed_value_beats_a_recorded_answer() {
    let reply = client().answer("owner", ada()).call_tool("paint", json!({})).await.unwrap();
    assert_eq!(
        reply.asked,
        [vec!["owner", "colour"], vec!["shade"]],
        "in the second round the answer is a recorded one"
    );
    assert_eq!(reply.text(), r#"Accepted("the register") red"#);
}

#[tokio::test]
async fn d6_and_a_recorded_decline() {
    for client in [client().decline("owner"), client().cancel("owner")] {
        let reply = client.call_tool("paint", json!({})).await.unwrap();
        assert_eq!(reply.asked, [vec!["owner", "colour"], vec!["shade"]]);
        assert_eq!(reply.text(), r#"Accepted("the register") red"#);
    }
}

/// Knows from the start.
#[resolver]
fn known() -> Ask<Name> {
    Ask::known(Name { name: "the register".into() })
}

#[tool]
fn look(#[resolve(known)] owner: &Name) -> String {
    owner.name.clone()
}

#[tokio::test]
async fn d6_and_over_answers_that_come_with_the_request() {
    let client = Client::new(Server::new("computed", "1").tools(tools![look]));
    for answer in [json!({ "action": "accept", "content": { "name": "Eve" } }), json!({ "action": "decline" })] {
        let params = json!({ "name": "look", "inputResponses": { "known": answer } });
        let reply = client.request("tools/call", params).await.unwrap();
        assert_eq!((&reply["resultType"], &reply["content"][0]["text"]), (&json!("complete"), &json!("the register")));
    }
}
