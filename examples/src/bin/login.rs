//! A login that ends with its session: `log_in` unlocks `my_orders` for this session, and for no other.
//!
//! A client of 2025-11-25 or earlier has a session; a stateless request has none, and sees only `log_in` and `log_out`. Where callers
//! have tokens, write gates that read the caller instead, as in `allow_list`.

use rejoinder::prelude::*;

/// Replace this with your accounts, and with codes that are sent to their owners and work once: a model reads what it sends, so
/// a password must not be an argument.
struct Accounts;

impl Accounts {
    fn owner_of(&self, code: &str) -> Option<&'static str> {
        [("code-of-ada", "ada"), ("code-of-bob", "bob")].iter().find(|known| known.0 == code).map(|known| known.1)
    }
}

/// Who has logged in to this session.
#[derive(Default)]
struct Login(Option<String>);

#[resolver]
fn is_logged_in(login: Option<SessionState<Login>>) -> bool {
    login.is_some_and(|login| login.with(|login| login.0.is_some()))
}

/// Log in with a code. Fails without a session.
#[tool]
async fn log_in(
    code: String,
    accounts: Dep<Accounts>,
    login: SessionState<Login>,
    ctx: Context,
    server: ServerHandle,
) -> Result<&'static str, CallError> {
    let user = accounts.owner_of(&code).ok_or("this code is not valid")?;
    login.set(Login(Some(user.to_owned())));
    // Its client lists the tools again, and no other client.
    server.gates_changed_for_session(ctx.session_id().unwrap_or_default());
    Ok("you have more tools now")
}

/// Log out.
#[tool]
async fn log_out(login: SessionState<Login>, ctx: Context, server: ServerHandle) {
    login.set(Login(None));
    server.gates_changed_for_session(ctx.session_id().unwrap_or_default());
}

/// List the orders.
#[tool(read_only, enabled = is_logged_in)]
async fn my_orders(login: SessionState<Login>) -> String {
    login.with(|login| format!("orders of {}", login.0.as_deref().unwrap_or("nobody")))
}

fn server() -> Server {
    Server::new("login", "1.0.0").provide(Accounts).tools(tools![log_in, log_out, my_orders])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{
        call::Era,
        testing::{Client, Filter, Notification, Transport},
    };
    use serde_json::json;

    use super::*;

    async fn tools(client: &Client) -> Vec<String> {
        client.list_tools().await.expect("a list").into_iter().map(|tool| tool.name).collect()
    }

    #[tokio::test]
    async fn a_login_unlocks_its_own_session_until_it_logs_out() {
        for transport in [Transport::Http, Transport::Stdio, Transport::WebSocket, Transport::Sse] {
            let client = Client::new(server()).transport(transport);
            let [ada, other] = [(); 2].map(|()| client.clone().era(Era::Session));
            let wrong = ada.call_tool("log_in", json!({ "code": "code-of-eve" })).await.expect("a result");
            assert!(wrong.is_error() && wrong.text() == "this code is not valid", "{}", wrong.text());
            assert_eq!(tools(&ada).await, ["log_in", "log_out"], "{transport:?}");
            ada.call_tool("log_in", json!({ "code": "code-of-ada" })).await.expect("a session");
            assert_eq!(ada.call_tool("my_orders", json!({})).await.expect("open").text(), "orders of ada");
            assert_eq!(tools(&ada).await, ["log_in", "log_out", "my_orders"], "{transport:?}");
            assert_eq!(tools(&other).await, ["log_in", "log_out"], "{transport:?}");
            ada.call_tool("log_out", json!({})).await.expect("a session");
            assert!(ada.call_tool("my_orders", json!({})).await.is_err(), "{transport:?}");
        }
    }

    #[tokio::test]
    async fn the_client_hears_that_it_has_more_tools() {
        let client = Client::new(server()).era(Era::Session);
        let mut changes = client.listen(Filter::default().tools()).await.expect("a subscription");
        client.call_tool("log_in", json!({ "code": "code-of-bob" })).await.expect("a session");
        assert_eq!(changes.next().await, Some(Notification::ToolsChanged));
    }

    #[tokio::test]
    async fn without_a_session_nobody_logs_in() {
        let client = Client::new(server());
        let refused = client.call_tool("log_in", json!({ "code": "code-of-ada" })).await.expect("a result");
        assert!(refused.is_error() && refused.text().contains("this client has no session"), "{}", refused.text());
        assert_eq!(tools(&client).await, ["log_in", "log_out"]);
    }
}
