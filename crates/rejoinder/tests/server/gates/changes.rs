//! Gates that change while the server runs.

use std::sync::{Arc, atomic::Ordering};

use rejoinder::{
    auth::Principal,
    call::Era,
    prelude::*,
    testing::{Client, Filter, Notification, Transport},
};
use serde_json::{Value, json};

use crate::{
    gates::fixture::{Switch, everyday_tool, is_on},
    protocol::wire::Pipe,
};

#[tool(enabled = is_on)]
async fn switched() -> &'static str {
    "on"
}

#[resource("text://switched", enabled = is_on)]
async fn switched_page() -> &'static str {
    "on"
}

fn switchable() -> (Arc<Switch>, Server) {
    let switch = Arc::new(Switch::default());
    let server = Server::new("switch", "1")
        .provide_arc(Arc::clone(&switch))
        .tools(tools![everyday_tool, switched])
        .prompts([])
        .resources(resources![switched_page])
        .principal(|request| match request.headers() {
            Some(headers) => Some(Principal::new(headers.get("x-user")?.to_str().ok()?)),
            None => request.principal.clone(),
        });
    (switch, server)
}

#[tokio::test]
async fn listeners_hear_that_gates_have_changed() {
    let (switch, server) = switchable();
    let client = Client::new(server);
    let everything = || Filter::default().tools().prompts().resources();
    let mut ada = client.clone().header("x-user", "ada").listen(everything()).await.unwrap();
    let mut bob = client.clone().header("x-user", "bob").listen(everything()).await.unwrap();
    let mut nobody = client.listen(everything()).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    switch.0.store(true, Ordering::SeqCst);
    assert_eq!(client.list_tools().await.unwrap().len(), 2, "a gate runs for every list");
    let handle = client.server().handle();
    handle.gates_changed();
    for listener in [&mut ada, &mut bob, &mut nobody] {
        assert_eq!(listener.next().await, Some(Notification::ToolsChanged));
        assert_eq!(listener.next().await, Some(Notification::ResourcesChanged));
        assert_eq!(listener.try_next(), None, "no prompt has a gate");
    }
    handle.gates_changed_for(&Principal::new("ada"));
    assert_eq!(ada.next().await, Some(Notification::ToolsChanged));
    assert_eq!((bob.try_next(), nobody.try_next()), (None, None));
}

async fn initialized(server: &rejoinder::BuiltServer) -> Pipe {
    let mut pipe = Pipe::open(server);
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    pipe.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
    pipe.next().await;
    pipe.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    pipe
}

#[tokio::test]
async fn a_session_hears_that_gates_have_changed() {
    let (_, server) = switchable();
    let server = server.stdio_principal(Principal::new("ada")).build().unwrap();
    let mut pipe = initialized(&server).await;
    pipe.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await;
    pipe.next().await;
    let methods = async |pipe: &mut Pipe| [pipe.next().await["method"].clone(), pipe.next().await["method"].clone()];
    let expected = ["notifications/tools/list_changed", "notifications/resources/list_changed"].map(Value::from);
    server.handle().gates_changed();
    assert_eq!(methods(&mut pipe).await, expected);
    server.handle().gates_changed_for(&Principal::new("bob"));
    server.handle().gates_changed_for(&Principal::new("ada"));
    assert_eq!(methods(&mut pipe).await, expected);
    assert_eq!(pipe.close().await.len(), 0);
}

/// Every way to listen.
fn ways() -> impl Iterator<Item = (Era, Transport)> {
    [Transport::Http, Transport::Stdio, Transport::WebSocket, Transport::Sse]
        .into_iter()
        .flat_map(|transport| [(Era::Stateless, transport), (Era::Session, transport)])
        // HTTP+SSE is older than the stateless era.
        .filter(|way| *way != (Era::Stateless, Transport::Sse))
}

#[prompt]
async fn marker() -> &'static str {
    "what is announced last"
}

/// The changes that are heard until the marker is.
async fn heard(client: &Client, listener: &mut rejoinder::testing::Subscription) -> Vec<Notification> {
    client.server().handle().add_prompts(prompts![marker]).unwrap();
    let mut heard = Vec::new();
    loop {
        match listener.next().await.expect("the subscription is open") {
            Notification::PromptsChanged => return heard,
            change => heard.push(change),
        }
    }
}

#[tokio::test]
async fn r3_m4_whoever_listens_hears_what_is_for_its_caller() {
    let [ada, bob] = ["ada", "bob"].map(Principal::new);
    for (era, transport) in ways() {
        let (_, server) = switchable();
        let server = if transport == Transport::Stdio { server.stdio_principal(ada.clone()) } else { server };
        let client = Client::new(server).era(era).transport(transport).header("x-user", "ada");
        let mut listener = client.listen(Filter::default().tools().prompts()).await.unwrap();
        let handle = client.server().handle();
        handle.gates_changed_for(&bob);
        assert_eq!(heard(&client, &mut listener).await, [], "{era:?} {transport:?}");
        handle.gates_changed_for(&ada);
        let tools: Vec<_> = heard(&client, &mut listener).await.into_iter().take(1).collect();
        assert_eq!(tools, [Notification::ToolsChanged], "{era:?} {transport:?}");
    }
}

#[tokio::test]
async fn r3_m4_nobody_else_hears_what_is_for_the_caller_on_stdio() {
    let root = Principal::new("root");
    for (era, transport) in ways() {
        let server = Server::new("switch", "1").provide(Switch::default()).tools(tools![switched]).prompts([]);
        let client = Client::new(server.stdio_principal(root.clone())).era(era).transport(transport);
        let mut listener = client.listen(Filter::default().tools().prompts()).await.unwrap();
        client.server().handle().gates_changed_for(&root);
        let is_heard = !heard(&client, &mut listener).await.is_empty();
        assert_eq!(is_heard, transport == Transport::Stdio, "{era:?} {transport:?}");
    }
}

#[tool]
fn session(ctx: Context) -> String {
    ctx.session_id().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn u3_5_one_session_hears_that_its_gates_have_changed() {
    let (_, server) = switchable();
    let server = server.tools(tools![session]).build().unwrap();
    let (mut one, mut other) = (initialized(&server).await, initialized(&server).await);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "session" } });
    one.send(call).await;
    let id = one.next().await["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    server.handle().gates_changed_for_session("of nobody");
    server.handle().gates_changed_for_session(&id);
    for list in ["tools", "resources"] {
        assert_eq!(one.next().await["method"], format!("notifications/{list}/list_changed"));
    }
    other.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await;
    assert_eq!(other.next().await["id"], 1, "it heard nothing");
    assert_eq!((one.close().await.len(), other.close().await.len()), (0, 0));
}

/// Whether a resource is there is decided when it is updated, not when it is subscribed to.
#[tokio::test]
async fn a_session_hears_of_updates_while_the_gate_is_open() {
    let (switch, server) = switchable();
    let server = server.build().unwrap();
    let mut pipe = initialized(&server).await;
    for (id, uri) in [(1, "text://switched"), (2, "text://other")] {
        let subscribe =
            json!({ "jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": { "uri": uri } });
        pipe.send(subscribe).await;
        assert_eq!(pipe.next().await["result"], json!({}), "as for what does not exist");
    }
    let handle = server.handle();
    handle.resource_updated("text://switched");
    handle.resource_updated("text://other");
    assert_eq!(pipe.next().await["params"]["uri"], "text://other");
    switch.0.store(true, Ordering::SeqCst);
    handle.resource_updated("text://switched");
    assert_eq!(pipe.next().await["params"]["uri"], "text://switched");
}

#[tokio::test]
async fn items_with_gates_come_and_go() {
    let client = Client::new(Server::new("late", "1").provide(Switch::default()).tools(tools![everyday_tool]));
    let handle = client.server().handle();
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    handle.add_tools(tools![switched]).unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    assert_eq!(client.call_tool("switched", json!({})).await.unwrap_err().code(), Some(-32602));
    handle.remove_tool("switched");
    handle.add_tools(tools![everyday_tool]).unwrap();
    let listed = client.request("tools/list", json!({})).await.unwrap();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 1);
}
