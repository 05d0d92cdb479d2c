//! The test client is the same client on every transport.

use rejoinder::{
    call::Level,
    prelude::*,
    testing::{Client, Filter, Notification},
};
use serde_json::json;

use crate::matrix::ways::Way;

/// Reports each step, and meets the other call half way.
#[tool]
async fn walk(name: String, meet: Dep<tokio::sync::Barrier>, ctx: Context) -> String {
    for step in 1..=3 {
        ctx.progress(f64::from(step)).message(format!("{name} {step}")).await;
        meet.wait().await;
    }
    ctx.info(format!("{name} is there")).await;
    name
}

/// Whether a layer in front of the server attached something.
#[tool]
async fn attached(ctx: Context) -> String {
    ctx.extension::<&'static str>().copied().unwrap_or("nothing").to_owned()
}

#[tool]
async fn tenant(#[header] x_tenant: Option<String>) -> String {
    x_tenant.unwrap_or_default()
}

fn client(way: Way) -> Client {
    let server = Server::new("walks", "1.0.0").provide(tokio::sync::Barrier::new(2));
    way.client(server.tools(tools![walk, attached, tenant]))
}

#[tokio::test]
async fn calls_at_once_have_their_own_progress() {
    for way in Way::ALL {
        let client = client(*way).log_level(Level::Info);
        let (ada, bob) = tokio::join!(
            client.call_tool("walk", json!({ "name": "ada" })),
            client.call_tool("walk", json!({ "name": "bob" }))
        );
        for (reply, name) in [(ada.unwrap(), "ada"), (bob.unwrap(), "bob")] {
            let messages: Vec<_> = reply.progress.iter().map(|step| step.message.clone().unwrap()).collect();
            assert_eq!(messages, [1, 2, 3].map(|step| format!("{name} {step}")), "{way:?}");
            assert_eq!(reply.text(), name, "{way:?}");
            assert!(reply.logs.iter().any(|log| log.data == format!("{name} is there")), "{way:?}: {:?}", reply.logs);
        }
    }
}

#[tokio::test]
async fn headers_and_extensions_are_those_of_the_request_or_of_the_connection() {
    for way in Way::ALL {
        let client = client(*way).header("x-tenant", "a").extension("a value");
        let expected = if way.has_headers() { ["a", "a value", "b"] } else { ["", "nothing", ""] };
        let other = client.clone().header("x-tenant", "b");
        let replies = [
            client.call_tool("tenant", json!({})).await.unwrap().text(),
            client.call_tool("attached", json!({})).await.unwrap().text(),
            other.call_tool("tenant", json!({})).await.unwrap().text(),
        ];
        assert_eq!(replies, expected, "{way:?}");
    }
}

#[tokio::test]
async fn changes_are_heard() {
    for way in Way::ALL {
        let client = client(*way);
        let mut subscription = client.listen(Filter::default().tools()).await.unwrap();
        assert_eq!(client.list_tools().await.unwrap().len(), 3, "{way:?}");
        client.server().handle().remove_tool("tenant");
        assert_eq!(subscription.next().await, Some(Notification::ToolsChanged), "{way:?}");
        assert_eq!(client.list_tools().await.unwrap().len(), 2, "{way:?}");
    }
}

#[tokio::test]
async fn errors_have_their_codes() {
    for way in Way::ALL {
        let error = client(*way).call_tool("nothing", json!({})).await.unwrap_err();
        assert_eq!(error.code(), Some(-32602), "{way:?}: {error}");
    }
}
