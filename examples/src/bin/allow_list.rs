//! Free, pro and admin callers see different tools; a feature flag hides one from everybody.
//!
//! On stdio the caller is given at the start: `allow_list --user ada`. Over HTTP it is a bearer token, `Bearer ada-token`:
//! `allow_list --http 127.0.0.1:8000`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rejoinder::{auth::Principal, prelude::*};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Plan {
    Free,
    Pro,
    Admin,
}

/// Replace this with your database of accounts.
#[resolver]
async fn plan(caller: Option<Principal>) -> Plan {
    match caller.as_ref().map(Principal::subject) {
        Some("ada") => Plan::Pro,
        Some("root") => Plan::Admin,
        _ => Plan::Free,
    }
}

#[resolver]
fn is_pro(#[resolve(plan)] plan: Plan) -> bool {
    plan >= Plan::Pro
}

#[resolver]
fn is_admin(#[resolve(plan)] plan: Plan) -> bool {
    plan == Plan::Admin
}

/// Whether the new search is on, for everybody.
#[derive(Default)]
struct NewSearch(AtomicBool);

#[resolver]
fn has_new_search(flag: Dep<NewSearch>) -> bool {
    flag.0.load(Ordering::Relaxed)
}

/// Search by words.
#[tool(read_only)]
async fn search(words: String) -> String {
    format!("nothing contains {words}")
}

/// Search by meaning.
#[tool(read_only, enabled = has_new_search)]
async fn search_by_meaning(question: String) -> String {
    format!("nothing is about {question}")
}

/// Export all that was found.
#[tool(read_only, enabled = is_pro)]
async fn export(#[resolve(plan)] plan: Plan) -> String {
    format!("exported, as {plan:?}")
}

struct Administration;

/// For admins only.
#[handlers(enabled = is_admin)]
impl Administration {
    /// Turn the new search on or off.
    #[tool]
    async fn set_new_search(&self, on: bool, flag: Dep<NewSearch>, server: ServerHandle) {
        flag.0.store(on, Ordering::Relaxed);
        // Clients list the tools again.
        server.gates_changed();
    }

    /// What happened on the server.
    #[resource("admin://log")]
    async fn log(&self) -> &'static str {
        "all is well"
    }
}

/// Replace this with your authentication.
fn caller(request: &rejoinder::RequestInfo) -> Option<Principal> {
    let Some(headers) = request.headers() else {
        // On stdio: the one that was given at the start.
        return request.principal.clone();
    };
    let token = headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
    token.strip_suffix("-token").map(Principal::new)
}

fn server() -> Server {
    let administration = Arc::new(Administration);
    Server::new("allow-list", "1.0.0")
        .provide(NewSearch::default())
        .principal(caller)
        .tools(tools![search, search_by_meaning, export])
        .tools(administration.tools())
        .resources(administration.resources())
}

#[tokio::main]
async fn main() -> Result<(), rejoinder::BoxError> {
    rejoinder::log_to_stderr();
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--user"), Some(user)) => server().stdio_principal(Principal::new(user)).serve_stdio().await?,
        (Some("--http"), Some(address)) => server().serve_http(address.parse::<std::net::SocketAddr>()?).await?,
        (None, _) => server().serve_stdio().await?,
        _ => return Err("usage: allow_list [--user NAME | --http ADDR]".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rejoinder::{
        Era,
        testing::{Client, Filter, Notification},
    };
    use serde_json::json;

    use super::*;

    async fn tools(client: &Client) -> Vec<String> {
        client.list_tools().await.expect("a list").into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    fn with_token(client: &Client, token: &str) -> Client {
        client.clone().header("authorization", &format!("Bearer {token}"))
    }

    #[tokio::test]
    async fn each_caller_sees_its_tools() {
        for era in [Era::Stateless, Era::Session] {
            // Each has a session of its own.
            let caller = |token| with_token(&Client::new(server()).era(era), token);
            for (token, expected) in [
                ("", &["search"][..]),
                ("bob-token", &["search"]),
                ("ada-token", &["search", "export"]),
                ("root-token", &["search", "export", "set_new_search"]),
            ] {
                assert_eq!(tools(&caller(token)).await, expected, "{token}");
            }
            let export = caller("bob-token").call_tool("export", json!({})).await.expect_err("hidden");
            assert_eq!(export.rpc().expect("an error of the server").message, "there is no tool `export`");
            let exported = caller("ada-token").call_tool("export", json!({})).await.expect("open");
            assert_eq!(exported.text(), "exported, as Pro");
            assert!(caller("ada-token").read_resource("admin://log").await.is_err());
            assert!(caller("root-token").read_resource("admin://log").await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_flag_changes_the_lists_of_all() {
        let client = Client::new(server());
        let mut changes = client.listen(Filter::default().tools()).await.expect("a subscription");
        let root = with_token(&client, "root-token");
        root.call_tool("set_new_search", json!({ "on": true })).await.expect("open");
        assert_eq!(changes.next().await, Some(Notification::ToolsChanged));
        assert_eq!(tools(&client).await, ["search", "search_by_meaning"]);
    }
}
