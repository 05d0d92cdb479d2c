//! The four tests of the specification that gates come from, and what must not happen here (O items).

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use rejoinder::{
    ask::{Sample, Sampling},
    call::Era,
    prelude::*,
    testing::{Client, Transport, in_both_eras},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::gates::fixture::{Runs, server};

#[derive(Debug, Clone)]
struct User {
    name: String,
    is_admin: bool,
}

#[resolver]
fn user(#[header("x-user")] name: Option<String>) -> User {
    let name = name.unwrap_or_else(|| "guest".to_owned());
    User { is_admin: name == "root", name }
}

#[tool]
async fn whoami(#[resolve(user)] user: &User) -> String {
    user.name.clone()
}

#[tokio::test]
async fn basic_injection() {
    let client = Client::new(Server::new("openmcp", "1").tools(tools![whoami]));
    in_both_eras(client, async |client| {
        assert_eq!(client.clone().header("x-user", "ada").call_tool("whoami", json!({})).await.unwrap().text(), "ada");
        let tools = client.list_tools().await.unwrap();
        assert!(tools[0].input_schema.get("properties").is_none_or(|it| it.as_object().unwrap().is_empty()));
    })
    .await;
}

struct Counter(AtomicUsize);

#[resolver]
fn connection(counter: Dep<Counter>) -> usize {
    counter.0.fetch_add(1, Ordering::SeqCst) + 1
}

#[resolver]
fn repository(#[resolve(connection)] connection: usize) -> usize {
    connection
}

#[resolver]
fn connected(#[resolve(connection)] connection: usize) -> bool {
    connection > 0
}

#[tool(enabled = connected)]
async fn twice(
    #[resolve(connection)] a: usize,
    #[resolve(connection)] b: usize,
    #[resolve(repository)] c: usize,
) -> String {
    format!("{a} {b} {c}")
}

#[tokio::test]
async fn duplicate_caching() {
    let counter = Arc::new(Counter(AtomicUsize::new(0)));
    let client = Client::new(Server::new("openmcp", "1").provide_arc(Arc::clone(&counter)).tools(tools![twice]));
    let first = client.call_tool("twice", json!({})).await.unwrap();
    assert_eq!((first.text(), counter.0.load(Ordering::SeqCst)), ("1 1 1".to_owned(), 1));
    let second = client.call_tool("twice", json!({})).await.unwrap();
    assert_eq!(second.text(), "2 2 2", "nothing survives a request");
}

/// What each function saw of its call.
#[derive(Default)]
struct Saw(Mutex<Vec<String>>);

#[resolver]
fn outer(ctx: Context, saw: Dep<Saw>) -> String {
    let user = ctx.header("x-user").unwrap_or("nobody").to_owned();
    saw.0.lock().unwrap().push(format!("outer {user}"));
    user
}

#[resolver]
fn gate(ctx: Context, saw: Dep<Saw>, #[resolve(outer)] user: &str) -> bool {
    saw.0.lock().unwrap().push(format!("gate {}", ctx.header("x-user").unwrap_or("nobody")));
    user != "nobody"
}

#[tool(enabled = gate)]
async fn propagate(ctx: Context, #[resolve(outer)] user: &str) -> String {
    format!("{user} {}", ctx.header("x-user").unwrap_or("nobody"))
}

#[tokio::test]
async fn context_propagation() {
    let saw = Arc::new(Saw::default());
    let client = Client::new(Server::new("openmcp", "1").provide_arc(Arc::clone(&saw)).tools(tools![propagate]));
    let called = client.header("x-user", "ada").call_tool("propagate", json!({})).await.unwrap();
    assert_eq!(called.text(), "ada ada");
    assert_eq!(*saw.0.lock().unwrap(), ["outer ada", "gate ada"]);
}

#[resolver]
fn is_admin(#[resolve(user)] user: &User) -> bool {
    user.is_admin
}

#[tool(enabled = is_admin)]
async fn shut_down() -> &'static str {
    "down"
}

#[tokio::test]
async fn allow_list_gating() {
    let client = Client::new(Server::new("openmcp", "1").tools(tools![whoami, shut_down]));
    in_both_eras(client, async |client| {
        for (user, listed) in [("guest", 1), ("root", 2), ("ada", 1)] {
            let client = client.clone().header("x-user", user);
            assert_eq!(client.list_tools().await.unwrap().len(), listed, "{user}");
            assert_eq!(client.call_tool("shut_down", json!({})).await.is_ok(), listed == 2, "{user}");
        }
    })
    .await;
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
    near: Vec<Place>,
}

#[tool]
async fn travel(place: Place, ctx: Context, #[resolve(user)] user: &User, scope: Scope) -> String {
    scope.defer(|_| async {});
    format!("{} to {} ({}), {}", user.name, place.city, place.near.len(), ctx.header("x-user").unwrap_or("nobody"))
}

#[prompt]
async fn plan_travel(city: String, ctx: Context, #[resolve(user)] user: &User) -> String {
    format!("{} {city} {}", user.name, ctx.header("x-user").is_some())
}

#[tokio::test]
async fn o1_o2_injected_parameters_and_the_context_are_in_no_list_and_break_none() {
    let server = Server::new("openmcp", "1").tools(tools![travel]).prompts(prompts![plan_travel]);
    in_both_eras(Client::new(server), async |client| {
        for _ in 0..2 {
            let tools = client.list_tools().await.unwrap();
            let properties = tools[0].input_schema["properties"].as_object().unwrap();
            assert_eq!(properties.keys().collect::<Vec<_>>(), ["place"]);
            let arguments = client.list_prompts().await.unwrap()[0].arguments.clone().unwrap();
            assert_eq!(arguments.iter().map(|argument| &*argument.name).collect::<Vec<_>>(), ["city"]);
            let place = json!({ "city": "Rome", "near": [{ "city": "Ostia", "near": [] }] });
            let called = client.call_tool("travel", json!({ "place": place })).await.unwrap();
            assert_eq!(called.text(), "guest to Rome (1), nobody");
            let prompt = client.get_prompt("plan_travel", json!({ "city": "Rome" })).await.unwrap();
            assert_eq!(prompt.text(), "guest Rome false");
        }
    })
    .await;
}

#[tokio::test]
async fn o3_a_client_cannot_supply_what_is_injected() {
    let client = Client::new(Server::new("openmcp", "1").tools(tools![whoami]).ignore_unknown_arguments());
    let arguments = json!({ "user": { "name": "EVIL", "is_admin": true } });
    assert_eq!(client.call_tool("whoami", arguments).await.unwrap().text(), "guest");
}

/// A gate that needs other resolvers gets their values, however deep.
#[tokio::test]
async fn o4_a_gate_on_other_resolvers_is_not_always_open() {
    let client = Client::new(Server::new("openmcp", "1").tools(tools![shut_down]));
    assert_eq!(client.list_tools().await.unwrap().len(), 0);
}

#[resolver]
fn raises() -> Result<bool, CallError> {
    Err(CallError::internal("down"))
}

#[tool(enabled = raises)]
async fn behind() {}

#[tokio::test]
async fn o5_a_gate_that_raises_hides_its_own_tool_only() {
    let client = Client::new(Server::new("openmcp", "1").tools(tools![whoami, behind]));
    in_both_eras(client, async |client| {
        assert_eq!(client.list_tools().await.unwrap().len(), 1);
        assert_eq!(client.call_tool("whoami", json!({})).await.unwrap().text(), "guest");
    })
    .await;
}

/// Who is logged in, by session. There is nothing to keep under "no session": the key is not an `Option`.
#[derive(Default)]
struct Logins(Mutex<HashMap<String, String>>);

#[resolver]
fn login(ctx: Context, logins: Dep<Logins>) -> Option<String> {
    logins.0.lock().unwrap().get(ctx.session_id()?).cloned()
}

#[resolver]
fn is_logged_in(#[resolve(login)] login: &Option<String>) -> bool {
    login.is_some()
}

#[tool]
async fn log_in(name: String, ctx: Context, logins: Dep<Logins>) -> Result<&'static str, CallError> {
    let session = ctx.session_id().ok_or_else(|| CallError::new("this needs a session"))?;
    logins.0.lock().unwrap().insert(session.to_owned(), name);
    Ok("welcome")
}

#[tool(enabled = is_logged_in)]
async fn members_only(#[resolve(login)] login: &Option<String>) -> String {
    login.clone().unwrap_or_default()
}

#[tokio::test]
async fn o6_a_login_unlocks_the_session_that_it_came_from() {
    for transport in [Transport::Http, Transport::Stdio] {
        let server = Server::new("openmcp", "1").provide(Logins::default()).tools(tools![log_in, members_only]);
        let anyone = Client::new(server).transport(transport);
        let [ada, bob] = [(); 2].map(|()| anyone.clone().era(Era::Session));
        let listed = async |client: &Client| client.list_tools().await.unwrap().len();
        assert_eq!((listed(&ada).await, listed(&bob).await), (1, 1));
        ada.call_tool("log_in", json!({ "name": "ada" })).await.unwrap();
        assert_eq!((listed(&ada).await, listed(&bob).await), (2, 1));
        assert_eq!(ada.call_tool("members_only", json!({})).await.unwrap().text(), "ada");
        assert!(bob.call_tool("members_only", json!({})).await.is_err());
        // A request that stands alone has no session to log in to, and none of another's.
        let refused = anyone.call_tool("log_in", json!({ "name": "eve" })).await.unwrap();
        assert!(refused.is_error() && refused.text().contains("this needs a session"), "{}", refused.text());
        assert_eq!(listed(&anyone).await, 1);
    }
}

#[tokio::test]
async fn o7_discovery_names_nothing_behind_a_gate() {
    let discovered = Client::new(server()).request("server/discover", json!({})).await.unwrap();
    assert!(!discovered.to_string().contains("gold_"), "{discovered}");
}

#[tokio::test]
async fn o9_a_gate_runs_once_for_a_call_of_what_is_hidden() {
    let runs = Arc::new(Runs::default());
    let client = Client::new(server().provide_arc(Arc::clone(&runs)));
    in_both_eras(client, async |client| {
        let before = runs.count();
        client.call_tool("gold_tool", json!({})).await.unwrap_err();
        assert_eq!(runs.count() - before, 1);
    })
    .await;
}

#[tool(name = "tools")]
async fn named_tools() {}

#[tool(name = "name")]
async fn named_name() {}

#[tokio::test]
async fn o11_a_tool_may_have_any_name() {
    let client = Client::new(Server::new("openmcp", "1").tools(tools![named_tools, named_name]));
    assert_eq!(client.list_tools().await.unwrap().len(), 2);
    client.call_tool("tools", json!({})).await.unwrap();
    client.call_tool("name", json!({})).await.unwrap();
}

#[resolver]
fn haiku() -> Ask<Sample> {
    Ask::sample(Sampling::new("A haiku, please."))
}

#[tool]
async fn poem(#[resolve(haiku)] haiku: &Sample) -> String {
    haiku.text()
}

#[tokio::test]
async fn o16_sampling_that_has_failed_can_be_used_again() {
    let client = Client::new(Server::new("openmcp", "1").tools(tools![poem]));
    in_both_eras(client, async |client| {
        let sample =
            |text: &str| json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "m" });
        for _ in 0..5 {
            let unusable = client.clone().answer_with("haiku", json!({ "role": "nobody" }));
            let failed = unusable.call_tool("poem", json!({})).await;
            assert!(failed.map_or(true, |reply| reply.is_error()), "what is not a sample is not taken for one");
        }
        let poem = client.answer_with("haiku", sample("sea")).call_tool("poem", json!({})).await.unwrap();
        assert_eq!(poem.text(), "sea");
    })
    .await;
}
