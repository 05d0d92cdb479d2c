//! Who calls: the parameter `Principal`, where it comes from, and what belongs to it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rejoinder::{
    auth::Principal,
    call::Era,
    middleware::{Next, OperationRequest, OperationResult},
    prelude::*,
    server::Limits,
    testing::{Client, ClientError, Transport},
};
use serde_json::json;

#[tool]
async fn whoami(caller: Option<Principal>) -> String {
    caller.map_or_else(|| "nobody".to_owned(), |caller| caller.subject().to_owned())
}

/// The claims of this application's tokens, by names of its own.
trait Claims {
    fn email(&self) -> Option<&str>;
    fn name(&self) -> &str;
}

impl Claims for Principal {
    fn email(&self) -> Option<&str> {
        self.claim("email")?.as_str()
    }

    fn name(&self) -> &str {
        self.subject()
    }
}

#[test]
fn an_application_may_name_claims_as_methods_of_a_caller() {
    let ada = Principal::new("ada");
    assert_eq!((ada.name(), ada.email()), ("ada", None));
}

#[tool]
async fn secret(caller: Principal) -> String {
    format!("the secret of {}", caller.subject())
}

#[prompt]
async fn greeting(caller: Principal) -> String {
    format!("Hello, {}!", caller.subject())
}

#[resource("me://profile")]
async fn profile(caller: Principal) -> String {
    caller.subject().to_owned()
}

/// The account of the caller, as an application has it.
#[derive(Clone)]
struct Account(String);

#[resolver]
fn account(caller: Principal) -> Account {
    Account(format!("account of {}", caller.subject()))
}

#[tool]
async fn balance(#[resolve(account)] account: &Account) -> String {
    account.0.clone()
}

#[tool]
async fn session(ctx: Context) -> String {
    ctx.session_id().unwrap_or("none").to_owned()
}

fn server() -> Server {
    Server::new("callers", "1.0.0")
        .tools(tools![whoami, secret, balance, session])
        .prompts(prompts![greeting])
        .resources(resources![profile])
}

/// Every way to reach a server.
fn ways() -> impl Iterator<Item = (Era, Transport)> {
    [Era::Stateless, Era::Session].into_iter().flat_map(|era| [(era, Transport::Http), (era, Transport::Stdio)])
}

async fn text(client: &Client, tool: &str) -> String {
    client.call_tool(tool, json!({})).await.unwrap().text()
}

#[tokio::test]
async fn a_caller_is_a_parameter_everywhere() -> Result<(), ClientError> {
    for (era, transport) in ways() {
        let server = server().principal(|_| Some(Principal::new("ada")));
        let client = Client::new(server).era(era).transport(transport);
        assert_eq!(text(&client, "whoami").await, "ada");
        assert_eq!(text(&client, "secret").await, "the secret of ada");
        assert_eq!(text(&client, "balance").await, "account of ada");
        assert!(
            serde_json::to_string(&client.get_prompt("greeting", json!({})).await?.result)
                .unwrap()
                .contains("Hello, ada!")
        );
        assert!(serde_json::to_string(&client.read_resource("me://profile").await?.result).unwrap().contains("ada"));
        for tool in client.list_tools().await? {
            assert_eq!(tool.input_schema["properties"], json!({}), "the model does not see it: {}", tool.name);
        }
    }
    Ok(())
}

#[tokio::test]
async fn without_a_caller_only_functions_for_anonymous_callers_run() {
    for (era, transport) in ways() {
        let client = Client::new(server()).era(era).transport(transport);
        assert_eq!(text(&client, "whoami").await, "nobody");
        for tool in ["secret", "balance"] {
            let refused = client.call_tool(tool, json!({})).await.unwrap();
            assert!(refused.result.is_error == Some(true) && refused.text().contains("authentication is required"));
        }
        let prompt = client.get_prompt("greeting", json!({})).await.unwrap_err();
        let resource = client.read_resource("me://profile").await.unwrap_err();
        for error in [prompt, resource] {
            assert!(error.to_string().contains("authentication is required"), "{error}");
        }
    }
}

async fn as_bob(mut request: OperationRequest, next: Next) -> OperationResult {
    let known = request.principal().map(|caller| caller.subject().to_owned());
    request.set_principal(Some(Principal::new(format!("bob, not {known:?}"))));
    next.run(request).await
}

#[tokio::test]
async fn a_caller_comes_from_a_layer_a_function_the_start_or_middleware() {
    let ada = Principal::new("ada");
    for era in [Era::Stateless, Era::Session] {
        let client = |server: Server| Client::new(server).era(era);
        // A layer of the application.
        let by_layer = client(server()).extension(ada.clone());
        assert_eq!(text(&by_layer, "whoami").await, "ada");
        // A function sees what the layer says, and has the last word.
        let tenant = |request: &rejoinder::call::RequestInfo| {
            let caller = request.principal.as_ref()?;
            Some(Principal::new(format!("{}@acme", caller.subject())))
        };
        assert_eq!(text(&client(server().principal(tenant)).extension(ada.clone()), "whoami").await, "ada@acme");
        assert_eq!(text(&client(server().principal(tenant)), "whoami").await, "nobody");
        // Whoever starts the program, on stdio only.
        let by_start = client(server().stdio_principal(ada.clone()));
        assert_eq!(text(&by_start, "whoami").await, "nobody", "HTTP");
        assert_eq!(text(&by_start.transport(Transport::Stdio), "whoami").await, "ada");
        // Middleware.
        let by_middleware = client(server().middleware(as_bob)).extension(ada.clone());
        assert_eq!(text(&by_middleware, "whoami").await, r#"bob, not Some("ada")"#);
    }
}

#[tokio::test]
async fn the_caller_of_a_request_is_identified_once_and_always_with_its_headers() {
    for transport in [Transport::Http, Transport::Stdio, Transport::WebSocket, Transport::Sse] {
        for era in [Era::Stateless, Era::Session] {
            if (era, transport) == (Era::Stateless, Transport::Sse) {
                continue;
            }
            let (times, bare) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let counts = (Arc::clone(&times), Arc::clone(&bare));
            let server = server().principal(move |request| {
                counts.0.fetch_add(1, Ordering::SeqCst);
                counts.1.fetch_add(usize::from(request.header("x-user").is_none()), Ordering::SeqCst);
                Some(Principal::new("ada"))
            });
            let client = Client::new(server).era(era).transport(transport).header("x-user", "ada");
            assert_eq!(text(&client, "whoami").await, "ada");
            for method in ["tools/list", "tools/call", "resources/read"] {
                let before = times.load(Ordering::SeqCst);
                let params = json!({ "name": "whoami", "arguments": {}, "uri": "me://profile" });
                client.request(method, params).await.unwrap();
                assert_eq!(times.load(Ordering::SeqCst) - before, 1, "{method}: {era:?} {transport:?}");
            }
            let is_bare = bare.load(Ordering::SeqCst) > 0;
            assert_eq!(is_bare, transport == Transport::Stdio, "{era:?} {transport:?}");
        }
    }
}

#[tokio::test]
async fn neither_headers_nor_meta_nor_arguments_make_a_caller() {
    for (era, transport) in ways() {
        let client = Client::new(server().ignore_unknown_arguments()).era(era).transport(transport);
        let client = ["x-user", "x-principal", "principal", "authorization", "x-forwarded-user"]
            .into_iter()
            .fold(client, |client, name| client.header(name, "Bearer ada"));
        let reply = client.call_tool("whoami", json!({ "caller": { "subject": "ada" }, "principal": "ada" })).await;
        assert_eq!(reply.unwrap().text(), "nobody");
        let params = json!({
            "name": "whoami", "arguments": {}, "principal": { "subject": "ada" },
            "_meta": { "principal": { "subject": "ada" }, "caller": "ada", "rejoinder/principal": "ada", "sub": "ada" },
        });
        let reply = client.request("tools/call", params).await.unwrap();
        assert_eq!(reply["content"][0]["text"], "nobody", "{reply}");
    }
}

#[tokio::test]
async fn o6_a_session_has_an_id_and_a_request_that_stands_alone_has_none() {
    for transport in [Transport::Http, Transport::Stdio] {
        let client = Client::new(server()).transport(transport);
        assert_eq!(text(&client, "session").await, "none");
        let one = client.clone().era(Era::Session);
        let other = client.era(Era::Session);
        let (first, second) = (text(&one, "session").await, text(&one, "session").await);
        assert_eq!(first, second);
        assert!(first.len() >= 32 && first != text(&other, "session").await, "{first}");
    }
}

#[tokio::test]
async fn a_client_whose_caller_changes_opens_its_own_session() {
    let by_header = |request: &rejoinder::call::RequestInfo| {
        let user = request.headers()?.get("x-user")?.to_str().ok()?;
        Some(Principal::new(user))
    };
    let by_layer = Client::new(server()).era(Era::Session);
    let by_function = Client::new(server().principal(by_header)).era(Era::Session);
    for transport in [Transport::Http, Transport::WebSocket, Transport::Sse] {
        for (client, change) in [
            (&by_layer, (|client, name| client.extension(Principal::new(name))) as fn(Client, &'static str) -> Client),
            (&by_function, |client, name| client.header("x-user", name)),
        ] {
            let client = client.clone().transport(transport);
            assert_eq!(text(&client, "whoami").await, "nobody");
            let session = text(&client, "session").await;
            for name in ["ada", "bob"] {
                let client = change(client.clone(), name);
                assert_eq!(text(&client, "whoami").await, name, "{transport:?}");
                assert_ne!(text(&client, "session").await, session);
            }
            assert_eq!(text(&client, "session").await, session, "a clone shares what nobody changed");
        }
    }
}

#[tool(scopes = ["files:write"])]
async fn write() -> &'static str {
    "written"
}

#[prompt(scopes = ["files:write"])]
async fn plan(#[arg(complete = paths)] path: String) -> String {
    path
}

#[rejoinder::completion]
async fn paths(_: rejoinder::call::CompletionRequest) -> Vec<String> {
    vec!["secret.txt".to_owned()]
}

#[resource("files://secret", scopes = ["files:write"])]
async fn file() -> &'static str {
    "secret"
}

#[tokio::test]
async fn an_item_with_scopes_is_listed_for_all_and_called_by_those_who_have_them() {
    for (era, transport) in ways() {
        let server = |scopes: &[&str]| {
            let caller = Principal::new("ada").with_scopes(scopes.iter().copied());
            let server = Server::new("files", "1.0.0").tools(tools![write]).prompts(prompts![plan]);
            server.resources(resources![file]).principal(move |_| Some(caller.clone()))
        };
        let client = Client::new(server(&["files:write"])).era(era).transport(transport);
        assert_eq!(text(&client, "write").await, "written");
        assert!(client.get_prompt("plan", json!({ "path": "x" })).await.is_ok());
        assert!(client.read_resource("files://secret").await.is_ok());
        let client = Client::new(server(&["files:read"])).era(era).transport(transport);
        assert_eq!(client.list_tools().await.unwrap().len(), 1, "a client can ask for the scope");
        let complete =
            json!({ "ref": { "type": "ref/prompt", "name": "plan" }, "argument": { "name": "path", "value": "" } });
        for (method, params) in [
            ("tools/call", json!({ "name": "write", "arguments": {} })),
            ("prompts/get", json!({ "name": "plan", "arguments": { "path": "x" } })),
            ("resources/read", json!({ "uri": "files://secret" })),
            ("completion/complete", complete),
        ] {
            let refused = client.request(method, params).await.unwrap_err();
            assert!(refused.to_string().contains("lacks a scope: this needs `files:write`"), "{method}: {refused}");
        }
    }
}

#[tokio::test]
async fn a_caller_whose_credentials_have_expired_is_refused() {
    let expired = Principal::new("ada").with_expiry(std::time::SystemTime::UNIX_EPOCH);
    for (era, transport) in ways() {
        let expired = expired.clone();
        let client = Client::new(server().principal(move |_| Some(expired.clone()))).era(era).transport(transport);
        let refused = client.call_tool("whoami", json!({})).await.unwrap_err();
        assert!(refused.to_string().contains("have expired: authenticate again"), "{refused}");
    }
}

#[resolver]
fn is_admin(caller: Option<Principal>) -> bool {
    caller.is_some_and(|caller| caller.has_scope("admin"))
}

#[tool(enabled = is_admin, scopes = ["files:write"])]
async fn erase() -> &'static str {
    "erased"
}

#[tokio::test]
async fn a_gate_hides_an_item_before_its_scopes_are_looked_at() {
    for (era, transport) in ways() {
        let call = async |scopes: &[&str], tool: &str| {
            let caller = Principal::new("ada").with_scopes(scopes.iter().copied());
            let server = Server::new("files", "1.0.0").tools(tools![erase]).principal(move |_| Some(caller.clone()));
            let client = Client::new(server).era(era).transport(transport);
            client.call_tool(tool, json!({})).await.map(|reply| reply.text()).map_err(|error| error.to_string())
        };
        let [hidden, unknown] = [call(&[], "erase").await, call(&[], "erasr").await].map(Result::unwrap_err);
        assert_eq!(hidden, unknown.replace("erasr", "erase"), "no hint that it exists");
        assert!(call(&["admin"], "erase").await.unwrap_err().contains("needs `files:write`"));
        assert_eq!(call(&["admin", "files:write"], "erase").await.unwrap(), "erased");
    }
}

/// Runs until its call is dropped.
#[tool]
async fn hold(started: Dep<tokio::sync::Semaphore>) {
    started.add_permits(1);
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn connections_of_a_caller_are_limited_and_free_their_calls_when_they_close() {
    let limits = Limits::new().sessions_per_caller(2).calls_per_caller(1);
    for (era, transport) in
        [(Era::Stateless, Transport::WebSocket), (Era::Session, Transport::WebSocket), (Era::Session, Transport::Sse)]
    {
        let started = Arc::new(tokio::sync::Semaphore::new(0));
        let server = server().tools(tools![hold]).provide_arc(Arc::clone(&started)).limits(limits);
        let server = server.grace_period(std::time::Duration::ZERO);
        let client = Client::new(server).era(era).transport(transport);
        let [ada, bob] = ["ada", "bob"].map(|name| client.clone().extension(Principal::new(name)).era(era));
        let holding = tokio::spawn({
            let ada = ada.clone().era(era);
            async move { ada.call_tool("hold", json!({})).await }
        });
        started.acquire().await.unwrap().forget();
        let refused = ada.call_tool("whoami", json!({})).await.unwrap_err().to_string();
        assert!(refused.contains("too many concurrent calls of this caller (limit 1)"), "{refused}");
        let third = ada.clone().era(era).call_tool("whoami", json!({})).await.unwrap_err().to_string();
        assert!(third.contains("429"), "{third}");
        assert_eq!(text(&bob, "whoami").await, "bob");
        // The only handle of that connection.
        holding.abort();
        assert!(holding.await.unwrap_err().is_cancelled());
        let another = ada.clone().era(era);
        for client in [&ada, &another] {
            let mut tries = 0;
            while let Err(refused) = client.call_tool("whoami", json!({})).await {
                tries += 1;
                assert!(tries < 1000, "{era:?} {transport:?}: {refused}");
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    }
}
