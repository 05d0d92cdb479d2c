//! What a server offers may change while it runs.

use rejoinder::{
    prelude::*,
    testing::{Client, Filter, Notification},
};
use serde_json::json;

use crate::protocol::fixture;

#[tool]
async fn late() -> &'static str {
    "better than never"
}

/// Adds a tool while it is called.
#[tool]
async fn unlock(server: ServerHandle) -> Result<&'static str, CallError> {
    server.add_tools(tools![late])?;
    Ok("look again")
}

#[prompt]
async fn hint() -> &'static str {
    "Think."
}

#[resource("text://late")]
async fn page() -> &'static str {
    "late"
}

#[tokio::test]
async fn a_tool_adds_a_tool_and_subscribers_are_notified() {
    let client = Client::new(Server::new("levels", "1").tools(tools![unlock]));
    let mut subscription = client.listen(Filter::default().tools()).await.unwrap();
    assert_eq!(client.call_tool("late", json!({})).await.unwrap_err().code(), Some(-32602));
    client.call_tool("unlock", json!({})).await.unwrap();
    assert_eq!(subscription.next().await, Some(Notification::ToolsChanged));
    assert_eq!(client.call_tool("late", json!({})).await.unwrap().text(), "better than never");
    assert_eq!(client.list_tools().await.unwrap().len(), 2);
    client.server().handle().remove_tool("late");
    assert_eq!(subscription.next().await, Some(Notification::ToolsChanged));
    assert_eq!(client.call_tool("late", json!({})).await.unwrap_err().code(), Some(-32602));
}

#[tokio::test]
async fn prompts_and_resources_can_be_added_and_removed() {
    let client = Client::new(fixture::server());
    let handle = client.server().handle();
    let mut subscription = client.listen(Filter::default().prompts().resources()).await.unwrap();
    handle.add_prompts(prompts![hint]).unwrap();
    handle.add_resources(resources![page]).unwrap();
    assert_eq!(subscription.next().await, Some(Notification::PromptsChanged));
    assert_eq!(subscription.next().await, Some(Notification::ResourcesChanged));
    assert_eq!(client.get_prompt("hint", json!({})).await.unwrap().text(), "Think.");
    assert_eq!(client.read_resource("text://late").await.unwrap().text(), "late");
    handle.remove_prompt("hint");
    handle.remove_resource("text://late");
    assert_eq!(client.get_prompt("hint", json!({})).await.unwrap_err().code(), Some(-32602));
    assert_eq!(client.read_resource("text://late").await.unwrap_err().code(), Some(-32602));
}

#[tokio::test]
async fn a_burst_of_the_same_change_is_one_notification() {
    let client = Client::new(fixture::server());
    let mut subscription = client.listen(Filter::default().resource("item://1")).await.unwrap();
    for _ in 0..100 {
        client.server().handle().resource_updated("item://1");
    }
    assert_eq!(subscription.try_next(), Some(Notification::ResourceUpdated("item://1".into())));
    assert_eq!(subscription.try_next(), None);
}

#[tokio::test]
async fn a_kind_that_was_not_declared_cannot_be_added() {
    let server = Server::new("tools only", "1").tools([]).build().unwrap();
    let error = server.handle().add_prompts(prompts![hint]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing was added:\n  prompts: the server was built without them; call `Server::prompts([])` before `build()`"
    );
    assert!(server.handle().add_tools(tools![late]).is_ok());
}

#[tokio::test]
async fn a_client_with_a_replaced_service_has_its_own_server() {
    struct Name(&'static str);
    #[tool]
    async fn name(name: Dep<Name>) -> &'static str {
        name.0
    }
    let real = Server::new("names", "1").provide(Name("real")).tools(tools![name, unlock]).build().unwrap();
    let fake = Client::new(real.clone()).replace(Name("fake"));
    let real = Client::new(real);
    assert_eq!(fake.call_tool("name", json!({})).await.unwrap().text(), "fake");
    assert_eq!(real.call_tool("name", json!({})).await.unwrap().text(), "real");
    fake.call_tool("unlock", json!({})).await.unwrap();
    assert_eq!((fake.list_tools().await.unwrap().len(), real.list_tools().await.unwrap().len()), (3, 2));
}

#[tokio::test]
async fn a_change_without_effect_is_not_notified() {
    let client = Client::new(fixture::server());
    let handle = client.server().handle();
    let all = Filter::default().tools().prompts().resources();
    let mut subscription = client.listen(all).await.unwrap();
    handle.remove_tool("no such");
    handle.remove_prompt("no such");
    handle.remove_resource("no://such");
    handle.add_tools([]).unwrap();
    assert_eq!(subscription.try_next(), None);
    handle.remove_tool("add");
    assert_eq!(subscription.try_next(), Some(Notification::ToolsChanged));
}
