//! Answers that are checked beyond their form, and forms that are filled in before the user sees them.

use rejoinder::{
    form::{FormError, FormErrors, TextForm},
    testing::ClientAnswer,
};
use serde_json::Value;

use super::*;

#[derive(Elicit, Debug, Clone, PartialEq)]
struct Stay {
    first_night: u32,
    last_night: u32,
}

/// Checks two fields together.
#[tool]
async fn book(ctx: Context) -> Result<String, CallError> {
    let question = Ask::user("When?").check(|stay: &Stay| match stay.last_night < stay.first_night {
        true => Err("the last night is before the first"),
        false => Ok(()),
    });
    let stay = ctx.ask("stay", question).await?;
    Ok(format!("{} to {}", stay.first_night, stay.last_night))
}

#[tokio::test]
async fn an_answer_that_fails_the_check_is_asked_for_again_with_the_reason() {
    let stay = |first_night, last_night| ClientAnswer::accept(Stay { first_night, last_night });
    let client = Client::new(Server::new("hotel", "1.0.0").tools(tools![book]));
    let corrected = client.clone().answers("stay", [stay(3, 1), stay(1, 3)]);
    in_both_eras(corrected, async |client| {
        let reply = client.call_tool("book", json!({})).await.unwrap();
        assert_eq!(reply.text(), "1 to 3");
        assert_eq!(reply.asked, [["stay"], ["stay"]]);
    })
    .await;
    in_both_eras(client.clone().answers("stay", [stay(3, 1), stay(3, 1), stay(3, 1)]), async |client| {
        let reply = client.call_tool("book", json!({})).await.unwrap();
        assert_eq!(reply.text(), "the client sent no usable answer to `stay`: the last night is before the first");
    })
    .await;
    in_both_eras(client.decline("stay"), async |client| {
        assert_eq!(client.call_tool("book", json!({})).await.unwrap().text(), "the user declined `stay`");
    })
    .await;
}

#[tokio::test]
async fn the_user_sees_the_reason_of_a_check() {
    let client = Client::new(Server::new("hotel", "1.0.0").tools(tools![book]))
        .answer("stay", Stay { first_night: 1, last_night: 1 });
    let call = json!({ "name": "book", "arguments": {} });
    let asked = client.request("tools/call", call.clone()).await.unwrap();
    let mut retry = call;
    retry["requestState"] = asked["requestState"].clone();
    let bad = json!({ "first_night": 2, "last_night": 1 });
    retry["inputResponses"] = json!({ "stay": { "action": "accept", "content": bad } });
    let asked = client.request("tools/call", retry).await.unwrap();
    let message = &asked["inputRequests"]["stay"]["params"]["message"];
    assert_eq!(message, "When?\n\nthe last night is before the first");
}

/// The names of accounts, and how often somebody looked for one.
#[derive(Default)]
struct Accounts {
    names: std::sync::Mutex<Vec<String>>,
    looks: AtomicU32,
}

impl Accounts {
    async fn has(&self, name: &str) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.names.lock().unwrap().iter().any(|taken| taken == name)
    }
}

/// Checks with a service, and then takes the name, so that a second check would fail.
#[tool]
async fn register(ctx: Context, accounts: Dep<Accounts>) -> Result<String, CallError> {
    let service = accounts.clone();
    let question = Ask::text("Which name?").check_async(move |name| {
        let (service, name) = (service.clone(), name.clone());
        async move { if service.has(&name).await { Err(format!("`{name}` is taken")) } else { Ok(()) } }
    });
    let name = ctx.ask("name", question).await?;
    let register = || async {
        accounts.names.lock().unwrap().push(name.clone());
        Ok(())
    };
    ctx.once("register", register).await?;
    let newsletter = ctx.ask("newsletter", Ask::confirm("A newsletter?")).await?;
    Ok(format!("{name} {newsletter}"))
}

#[tokio::test]
async fn a_check_with_a_service_runs_once_for_an_answer() {
    for era in [Era::Stateless, Era::Session] {
        let accounts = Arc::new(Accounts { names: vec!["eve".to_owned()].into(), ..Accounts::default() });
        let server = Server::new("accounts", "1.0.0").provide_arc(Arc::clone(&accounts)).tools(tools![register]);
        let name = |name: &str| ClientAnswer::accept(TextForm { text: name.to_owned() });
        let client = Client::new(server)
            .era(era)
            .answers("name", [name("eve"), name("ada")])
            .answer("newsletter", rejoinder::form::ConfirmForm { yes: true });
        let reply = client.call_tool("register", json!({})).await.unwrap();
        assert_eq!(reply.text(), "ada true", "{era:?}");
        assert_eq!(reply.asked.concat(), ["name", "name", "newsletter"], "{era:?}");
        assert_eq!(accounts.looks.load(Ordering::Relaxed), 2, "{era:?}");
    }
}

/// Asks two questions at once; the check of the first waits while the second is left open.
#[tool]
async fn beside(ctx: Context, accounts: Dep<Accounts>) -> Result<String, CallError> {
    let question = Ask::text("Which name?").check_async(move |name| {
        let (accounts, name) = (accounts.clone(), name.clone());
        async move { if accounts.has(&name).await { Err("taken") } else { Ok(()) } }
    });
    let (name, sure) = tokio::try_join!(ctx.ask("name", question), ctx.ask("sure", Ask::confirm("Sure?")))?;
    Ok(format!("{name} {sure}"))
}

#[tokio::test]
async fn an_answer_whose_check_was_interrupted_is_checked_in_the_next_round() {
    let accounts = Accounts { names: vec!["eve".to_owned()].into(), ..Accounts::default() };
    let name = |name: &str| ClientAnswer::accept(TextForm { text: name.to_owned() });
    let yes = || ClientAnswer::accept(rejoinder::form::ConfirmForm { yes: true });
    let client = Client::new(Server::new("accounts", "1.0.0").provide(accounts).tools(tools![beside]))
        .answers("name", [name("eve"), name("ada")])
        .answers("sure", [ClientAnswer::later(), yes(), yes()]);
    let reply = client.call_tool("beside", json!({})).await.unwrap();
    assert_eq!(reply.text(), "ada true");
    assert_eq!(reply.asked.iter().flatten().filter(|key| *key == "name").count(), 2, "{:?}", reply.asked);
}

/// A check that names a field, before a change of the value, and a second one.
#[tool]
async fn checked_twice(ctx: Context) -> Result<u32, CallError> {
    let even = |stay: &Stay| match stay.first_night % 2 {
        0 => Ok(()),
        _ => Err(FormErrors(vec![FormError { field: "first_night".into(), message: "must be even".to_owned() }])),
    };
    let question = Ask::user("When?").check(even).map(|stay: Stay| stay.last_night - stay.first_night);
    ctx.ask("stay", question.check(|nights| if *nights == 0 { Err("too short") } else { Ok(()) })).await
}

#[tokio::test]
async fn checks_and_changes_apply_in_their_order() {
    let stay = |first_night, last_night| ClientAnswer::accept(Stay { first_night, last_night });
    let client = Client::new(Server::new("hotel", "1.0.0").tools(tools![checked_twice]));
    in_both_eras(client.answers("stay", [stay(1, 1), stay(2, 2), stay(2, 5)]), async |client| {
        let reply = client.call_tool("checked_twice", json!({})).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.asked.len()), ("3", 3));
    })
    .await;
}

/// A check cannot be part of a round by hand.
#[tool]
async fn by_hand(_rounds: Rounds) -> Reply<&'static str> {
    Reply::ask("sure", Ask::confirm("Sure?").check(|_| Err("never")))
}

#[tokio::test]
async fn a_check_by_hand_is_the_authors_mistake() {
    let client = Client::new(Server::new("hotel", "1.0.0").tools(tools![by_hand])).decline("sure");
    in_both_eras(client, async |client| {
        let reply = client.call_tool("by_hand", json!({})).await.unwrap();
        assert!(reply.text().starts_with("`Reply::ask` (question `sure`) cannot use `check`"), "{}", reply.text());
    })
    .await;
}

/// Fills in the form.
#[tool]
async fn move_stay(ctx: Context) -> Result<String, CallError> {
    let question = Ask::user("When?").prefill(Stay { first_night: 3, last_night: 5 });
    let stay = ctx.ask("stay", question).await?;
    Ok(format!("{} to {}", stay.first_night, stay.last_night))
}

#[tokio::test]
async fn a_form_that_is_filled_in_shows_its_values_and_keeps_those_that_are_left_out() {
    let client = Client::new(Server::new("hotel", "1.0.0").tools(tools![move_stay]));
    for (content, expected) in [
        (json!({ "first_night": 4, "last_night": 6 }), "4 to 6"),
        (json!({ "first_night": 4 }), "4 to 5"),
        (json!({}), "3 to 5"),
        (Value::Null, "3 to 5"),
    ] {
        let answer = json!({ "action": "accept", "content": content });
        in_both_eras(client.clone().answer_with("stay", answer), async |client| {
            assert_eq!(client.call_tool("move_stay", json!({})).await.unwrap().text(), expected);
        })
        .await;
    }
    let client = client.decline("stay");
    let asked = client.request("tools/call", json!({ "name": "move_stay", "arguments": {} })).await.unwrap();
    let properties = &asked["inputRequests"]["stay"]["params"]["requestedSchema"]["properties"];
    assert_eq!((&properties["first_night"]["default"], &properties["last_night"]["default"]), (&json!(3), &json!(5)));
    assert_eq!(client.call_tool("move_stay", json!({})).await.unwrap().text(), "the user declined `stay`");
}
