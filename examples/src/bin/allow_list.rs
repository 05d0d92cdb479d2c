//! Free, pro and admin callers see different tools; a feature flag hides one from everybody.
//!
//! On stdio the environment names the caller: `ALLOW_LIST_USER=ada allow_list`. Over HTTP it is the owner of a bearer token:
//! `allow_list --http 127.0.0.1:8000`, with `Authorization: Bearer token-of-ada-1234`. `--tools` and `--read-only` narrow
//! what is offered to all.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rejoinder::{
    auth::{Auth, Principal},
    http,
    prelude::*,
};

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

/// Replace this with your issuer, `Auth::jwt(issuer, audience)`, or with keys of your own.
fn auth() -> Auth {
    ["ada", "bob", "root"]
        .iter()
        .fold(Auth::api_key("authorization"), |auth, user| {
            auth.key(format!("token-of-{user}-1234"), Principal::new(*user))
        })
        .optional()
}

fn server() -> Server {
    let administration = Arc::new(Administration);
    Server::new("allow-list", "1.0.0")
        .provide(NewSearch::default())
        .http(http::Config::new().auth(auth()))
        .tools(tools![search, search_by_meaning, export])
        .tools(administration.tools())
        .resources(administration.resources())
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    let server = match std::env::var("ALLOW_LIST_USER") {
        Ok(user) => server().stdio_principal(Principal::new(user)),
        Err(_) => server(),
    };
    server.serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{
        call::Era,
        testing::{Client, Filter, Notification},
    };
    use serde_json::json;

    use super::*;

    async fn tools(client: &Client) -> Vec<String> {
        client.list_tools().await.expect("a list").into_iter().map(|tool| tool.name).collect()
    }

    fn with_token(client: &Client, user: &str) -> Client {
        client.clone().header("authorization", &format!("Bearer token-of-{user}-1234"))
    }

    #[tokio::test]
    async fn each_caller_sees_its_tools() {
        for era in [Era::Stateless, Era::Session] {
            // Each has a session of its own.
            let caller = |user| with_token(&Client::new(server()).era(era), user);
            for (user, expected) in [
                ("bob", &["search"][..]),
                ("ada", &["search", "export"]),
                ("root", &["search", "export", "set_new_search"]),
            ] {
                assert_eq!(tools(&caller(user)).await, expected, "{user}");
            }
            assert_eq!(tools(&Client::new(server()).era(era)).await, ["search"], "anonymous");
            assert!(caller("eve").list_tools().await.is_err(), "a token that nobody has");
            let export = caller("bob").call_tool("export", json!({})).await.expect_err("hidden");
            assert_eq!(export.rpc().expect("an error of the server").message, "there is no tool `export`");
            let exported = caller("ada").call_tool("export", json!({})).await.expect("open");
            assert_eq!(exported.text(), "exported, as Pro");
            assert!(caller("ada").read_resource("admin://log").await.is_err());
            assert!(caller("root").read_resource("admin://log").await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_flag_changes_the_lists_of_all() {
        let client = Client::new(server());
        let mut changes = client.listen(Filter::default().tools()).await.expect("a subscription");
        let root = with_token(&client, "root");
        root.call_tool("set_new_search", json!({ "on": true })).await.expect("open");
        assert_eq!(changes.next().await, Some(Notification::ToolsChanged));
        assert_eq!(tools(&client).await, ["search", "search_by_meaning"]);
    }
}
