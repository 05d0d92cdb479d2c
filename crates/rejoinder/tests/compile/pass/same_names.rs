//! An argument may have the name of a parameter that comes from elsewhere.

use rejoinder::{prelude::*, testing::Client};
use serde_json::json;

#[resolver]
fn account(account: &str) -> usize {
    account.len()
}

#[tool]
fn of_a_resolver(#[arg(name = "account")] id: String, #[resolve(account)] account: usize) -> String {
    format!("{id} {account}")
}

/// A resolver and a tool may borrow a text that may be missing.
#[resolver]
fn nickname(nickname: Option<&str>) -> Ask<String> {
    Ask::known(nickname.unwrap_or("none").to_owned())
}

#[tool]
fn borrowing(nickname: Option<String>, #[resolve(nickname)] a: Option<&str>, #[resolve(nickname)] b: Outcome<&str>) -> String {
    format!("{nickname:?} {a:?} {b:?}")
}

#[tool]
fn of_the_server(ctx: Context, #[arg(name = "ctx")] text: String, #[resolve(length)] length: usize) -> String {
    format!("{text} {length} {}", ctx.era() == ctx.era())
}

#[resolver]
fn length(ctx: &str) -> usize {
    ctx.len()
}

#[resource("accounts://{account}")]
fn page(#[arg(name = "account")] id: String, #[resolve(account)] account: usize) -> String {
    format!("{id} {account}")
}

fn main() {
    let server = Server::new("accounts", "1").tools(tools![of_a_resolver, of_the_server, borrowing]).resources(resources![page]);
    let client = Client::new(server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let reply = client.call_tool("of_a_resolver", json!({ "account": "Ada" })).await.expect("a reply");
        assert_eq!(reply.text(), "Ada 3");
        let reply = client.call_tool("of_the_server", json!({ "ctx": "four" })).await.expect("a reply");
        assert_eq!(reply.text(), "four 4 true");
    });
}
