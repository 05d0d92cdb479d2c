//! What the server supplies is made first: a `FromCall` that refuses does so before the client is asked.

use super::*;

/// Refuses every call, after it has waited for something.
struct Admitted;

impl FromCall for Admitted {
    async fn from_call(_: &Call, parameter: &'static str) -> Result<Self, CallError> {
        tokio::task::yield_now().await;
        Err(CallError::new(format!("you may not ({parameter})")))
    }
}

#[resolver]
fn name(runs: Dep<Runs>) -> Ask<Name> {
    runs.count("name");
    Ask::user("Who?")
}

#[resolver]
fn greeting(#[resolve(name)] name: &Name, _guard: Admitted) -> String {
    format!("Hello {}", name.name)
}

#[tool]
async fn refused(#[resolve(name)] name: &Name, guard: Admitted) -> String {
    let Admitted = guard;
    name.name.clone()
}

#[tool]
async fn refused_by_a_resolver(#[resolve(greeting)] greeting: String) -> String {
    greeting
}

#[tokio::test]
async fn r_m2_a_call_is_refused_before_a_resolver_runs_or_the_user_is_asked() {
    let runs = Arc::new(Runs::default());
    let server = Server::new("guarded", "1.0.0").provide_arc(Arc::clone(&runs));
    let client = Client::new(server.tools(tools![refused, refused_by_a_resolver])).answer("name", ada());
    in_both_eras(client, async |client| {
        for (tool, parameter) in [("refused", "guard"), ("refused_by_a_resolver", "_guard")] {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert_eq!(reply.text(), format!("you may not ({parameter})"));
            assert!(reply.asked.is_empty(), "{:?}", reply.asked);
            assert!(reply.ran.iter().all(Vec::is_empty), "{:?}", reply.ran);
        }
    })
    .await;
    assert_eq!(runs.of("name"), 0);
}
