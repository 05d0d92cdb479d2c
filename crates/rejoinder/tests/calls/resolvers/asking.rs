use super::*;

#[resolver(key = "user_name")]
fn who(runs: Dep<Runs>) -> Ask<Name> {
    runs.count("who");
    Ask::user("Who?")
}

/// Asks only where there is something to lose.
#[resolver]
async fn confirm(path: &str) -> Result<Ask<Confirm>, CallError> {
    match path {
        "" => Err(CallError::new("say which folder")),
        "empty" => Ok(Ask::known(Confirm { yes: true })),
        path => Ok(Ask::user(format!("Delete {path}?"))),
    }
}

/// Asks a question whose text depends on another answer.
#[resolver]
fn reason(#[resolve(who)] who: &Name) -> Ask<Name> {
    Ask::user(format!("Why, {}?", who.name))
}

#[tool]
async fn delete(
    path: String,
    #[resolve(confirm)] confirm: &Confirm,
    #[resolve(who)] who: Name,
    #[resolve(reason)] reason: Outcome<Name>,
    runs: Dep<Runs>,
) -> String {
    runs.count("delete");
    let reason = reason.map(|reason| reason.name);
    format!("{path} {} {} {reason:?}", confirm.yes, who.name)
}

/// Not `Clone`, hence behind a pointer.
mod shared {
    use super::*;

    #[resolver]
    pub(super) fn confirm(#[resolve(super::confirm)] confirm: &Confirm) -> Arc<u8> {
        Arc::new(confirm.yes.into())
    }
}

#[tool]
fn nested(path: String, #[resolve(shared::confirm)] shared: Outcome<Arc<u8>>) -> String {
    format!("{path} {shared:?}")
}

fn client(runs: &Arc<Runs>) -> Client {
    Client::new(Server::new("r", "1").provide_arc(Arc::clone(runs)).tools(tools![
        delete,
        nested,
        optional,
        both,
        painted,
        renamed,
        seen_and_needed
    ]))
}

#[tool]
fn optional(#[resolve(who)] who: Option<Name>) -> String {
    format!("{who:?}")
}

#[tokio::test]
async fn independent_questions_go_out_together_and_dependent_ones_after_them() {
    let runs = Arc::new(Runs::default());
    let client = client(&runs)
        .answer("confirm", Confirm { yes: true })
        .answer("user_name", ada())
        .answer("reason", Name { name: "old".into() });
    let reply = client.call_tool("delete", json!({ "path": "a" })).await.unwrap();
    assert_eq!(reply.text(), "a true Ada Accepted(\"old\")");
    assert_eq!(reply.asked, [vec!["confirm", "user_name"], vec!["reason"]]);
    assert_eq!((runs.of("who"), runs.of("delete")), (3, 1), "resolvers run in each round, the function in the last");
    let reply = client.era(Era::Session).call_tool("delete", json!({ "path": "a" })).await.unwrap();
    assert_eq!(reply.text(), "a true Ada Accepted(\"old\")");
    assert_eq!((runs.of("who"), runs.of("delete")), (4, 2), "on a session there is one round");
}

#[resolver]
fn colour() -> Ask<Name> {
    Ask::user("Which colour?")
}

/// Waits for two answers and does not run before both are there.
#[resolver]
fn paint(#[resolve(who)] who: &Name, #[resolve(colour)] colour: &Name, runs: Dep<Runs>) -> String {
    runs.count("paint");
    format!("{} {}", colour.name, who.name)
}

#[tool]
fn painted(#[resolve(paint)] paint: &String) -> String {
    paint.clone()
}

#[tokio::test]
async fn questions_below_one_resolver_go_out_together() {
    let runs = Arc::new(Runs::default());
    let red = || Name { name: "red".into() };
    in_both_eras(client(&runs).answer("user_name", ada()).answer("colour", red()), async |client| {
        let reply = client.call_tool("painted", json!({})).await.unwrap();
        assert_eq!(reply.text(), "red Ada");
        assert_eq!(reply.asked.concat(), ["user_name", "colour"]);
    })
    .await;
    assert_eq!((runs.of("who"), runs.of("paint")), (3, 2), "it ran once on each");
    let client = client(&runs).answer("user_name", ada()).answer("colour", red());
    assert_eq!(client.call_tool("painted", json!({})).await.unwrap().asked, [["user_name", "colour"]]);
}

#[tokio::test]
async fn what_is_known_is_not_asked() {
    let runs = Arc::new(Runs::default());
    let client = client(&runs).answer("user_name", ada()).decline("reason");
    in_both_eras(client, async |client| {
        let reply = client.call_tool("delete", json!({ "path": "empty" })).await.unwrap();
        assert_eq!(reply.text(), "empty true Ada Declined");
        assert!(!reply.asked.concat().contains(&"confirm".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn declining_ends_the_call_where_the_value_is_needed() {
    let runs = Arc::new(Runs::default());
    let client = client(&runs).decline("confirm").answer("user_name", ada()).answer("reason", ada());
    in_both_eras(client.clone(), async |client| {
        let reply = client.call_tool("delete", json!({ "path": "a" })).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the user declined `confirm`");
        let reply = client.call_tool("nested", json!({ "path": "a" })).await.unwrap();
        assert_eq!(reply.text(), "the user declined `confirm`");
    })
    .await;
    let reply = client.call_tool("delete", json!({ "path": "a" })).await.unwrap();
    assert_eq!(reply.asked, [["confirm", "user_name"]], "a decline beats what is still open");
    let client = client.cancel("confirm");
    let reply = client.call_tool("delete", json!({ "path": "a" })).await.unwrap();
    assert_eq!(reply.text(), "the user cancelled `confirm`");
    assert_eq!(runs.of("delete"), 0);
}

/// Calls what it takes by a name of its own.
#[tool]
fn renamed(#[resolve(who)] owner: Name) -> String {
    owner.name
}

/// Takes one answer in two ways.
#[tool]
fn seen_and_needed(#[resolve(who)] seen: Outcome<Name>, #[resolve(who)] needed: &Name, runs: Dep<Runs>) -> String {
    runs.count("seen_and_needed");
    format!("{seen:?} {}", needed.name)
}

#[tokio::test]
async fn e1_e3_the_question_whose_value_is_needed_is_named() {
    let runs = Arc::new(Runs::default());
    in_both_eras(client(&runs).decline("user_name"), async |client| {
        let reply = client.call_tool("renamed", json!({})).await.unwrap();
        assert_eq!(reply.text(), "the user declined `user_name`");
        let reply = client.call_tool("seen_and_needed", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the user declined `user_name`");
    })
    .await;
    assert_eq!(runs.of("seen_and_needed"), 0);
    let reply = client(&runs).answer("user_name", ada()).call_tool("seen_and_needed", json!({})).await.unwrap();
    assert_eq!(reply.text(), r#"Accepted(Name { name: "Ada" }) Ada"#);
}

#[tokio::test]
async fn declining_is_none_where_the_value_is_optional() {
    let runs = Arc::new(Runs::default());
    in_both_eras(client(&runs).decline("user_name"), async |client| {
        assert_eq!(client.call_tool("optional", json!({})).await.unwrap().text(), "None");
    })
    .await;
    let reply = client(&runs).answer("user_name", ada()).call_tool("optional", json!({})).await.unwrap();
    assert_eq!(reply.text(), "Some(Name { name: \"Ada\" })");
}

#[tokio::test]
async fn e5_a_failure_beats_what_is_still_open() {
    let runs = Arc::new(Runs::default());
    let client = client(&runs).answer("user_name", ada()).answer("reason", ada());
    in_both_eras(client.clone(), async |client| {
        let reply = client.call_tool("delete", json!({ "path": "" })).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.is_error()), ("say which folder", true));
    })
    .await;
    assert!(client.call_tool("delete", json!({ "path": "" })).await.unwrap().asked.is_empty());
    assert_eq!(runs.of("delete"), 0);
}

#[tool]
fn both(path: String, #[resolve(confirm)] one: &Confirm, #[resolve(confirming::confirm)] two: &Name) -> String {
    format!("{path} {} {}", one.yes, two.name)
}

mod confirming {
    use super::*;

    #[resolver]
    pub(super) fn confirm() -> Ask<Name> {
        Ask::user("Name it.")
    }
}

#[tokio::test]
async fn d1_resolvers_of_one_name_ask_under_numbered_keys() {
    let runs = Arc::new(Runs::default());
    let client = client(&runs).answer("confirm", Confirm { yes: false }).answer("confirm#1", ada());
    in_both_eras(client, async |client| {
        let reply = client.call_tool("both", json!({ "path": "a" })).await.unwrap();
        assert_eq!(reply.text(), "a false Ada");
        assert_eq!(reply.asked.concat(), ["confirm", "confirm#1"]);
    })
    .await;
}

/// A resolver asks who, then the body asks about each thing, under a key of its own.
#[tool]
async fn pack(things: Vec<String>, #[resolve(traveller)] traveller: Name, ctx: Context) -> Result<String, CallError> {
    let mut packed = Vec::new();
    for (number, thing) in things.iter().enumerate() {
        let question = Ask::confirm(format!("{}, take the {thing}?", traveller.name));
        if ctx.ask(&format!("take-{number}"), question).await? {
            packed.push(thing.as_str());
        }
    }
    Ok(packed.join(" "))
}

#[resolver]
fn traveller() -> Ask<Name> {
    Ask::user("Who travels?")
}

#[tokio::test]
async fn the_body_goes_on_asking_after_its_resolvers_in_a_loop_too() {
    let yes = |yes| rejoinder::form::ConfirmForm { yes };
    let client = Client::new(Server::new("r", "1").tools(tools![pack])).answer("traveller", ada());
    let client = client.answer("take-0", yes(true)).answer("take-1", yes(false)).answer("take-2", yes(true));
    in_both_eras(client, async |client| {
        let reply = client.call_tool("pack", json!({ "things": ["map", "tent", "rope"] })).await.unwrap();
        assert_eq!(reply.text(), "map rope");
        assert_eq!(reply.asked, [["traveller"], ["take-0"], ["take-1"], ["take-2"]]);
    })
    .await;
}

#[tokio::test]
async fn a_test_without_an_answer_gets_an_error_that_names_it() {
    let none = client(&Arc::default());
    in_both_eras(none, async |client| {
        let error = client.call_tool("nested", json!({ "path": "a" })).await.unwrap_err();
        // On a session a tool returns a result with `isError`.
        assert!(matches!(error.code(), None | Some(-32021)), "{error}");
        let error_text = error.to_string();
        assert!(
            error_text.contains("the client did not declare `elicitation.form`, which this call needs"),
            "{error_text}"
        );
        let remedy = r#"`.answer("confirm", rejoinder::form::ConfirmForm { yes: true })`"#;
        assert!(error_text.contains(&format!("the test has no answer: add {remedy}")), "{error_text}");
    })
    .await;
    let other = client(&Arc::default()).answer("user_name", ada());
    in_both_eras(other, async |client| {
        let error = client.call_tool("nested", json!({ "path": "a" })).await.unwrap_err();
        assert!(
            error.to_string().contains("it asks `confirm`, and the test has no answer to it, only to `user_name`"),
            "{error}"
        );
    })
    .await;
    // A client that says by itself what it can do has no answers on purpose.
    let cannot = client(&Arc::default()).capabilities(serde_json::from_value(json!({ "roots": {} })).unwrap());
    let error = cannot.call_tool("nested", json!({ "path": "a" })).await.unwrap_err();
    assert!(!error.to_string().contains(".answer("), "{error}");
}
