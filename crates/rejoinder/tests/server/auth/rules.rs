//! What the MCP authorization specification demands of a server.

use http::Method;
use rejoinder::{
    auth::{Auth, Principal},
    http::{self as transport, McpService},
    middleware::{Next, OperationRequest},
    prelude::*,
    testing::Client,
};
use serde_json::{Value, json};

use crate::auth::{
    AUDIENCE, Reply, call, initialize,
    issuer::{Issuer, now},
    send, server, server_at, service, whoami_with,
};

const METADATA: &str = r#"resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp""#;

#[tokio::test]
async fn a_good_token_names_the_caller_whatever_its_algorithm() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    for (algorithm, key) in [("ES256", "p256"), ("RS256", "rsa"), ("PS256", "rsa"), ("EdDSA", "ed")] {
        for kind in [json!(null), json!("JWT"), json!("at+jwt"), json!("application/AT+JWT")] {
            let token = issuer.sign(json!({ "alg": algorithm, "kid": key, "typ": kind }), &issuer.claims());
            for scheme in ["Bearer", "bearer", "BEARER"] {
                let reply = whoami_with(&service, &format!("{scheme} {token}")).await;
                assert_eq!((reply.status.as_u16(), reply.text()), (200, r#"ada ["a", "b"]"#), "{algorithm} {kind}");
            }
        }
    }
    assert_eq!(issuer.fetches(), 1, "keys are kept");
}

#[tokio::test]
async fn scopes_are_a_string_or_a_list_in_either_claim() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    for (claims, expected) in [
        (json!({ "scope": "x  y" }), r#"ada ["x", "y"]"#),
        (json!({ "scope": null, "scp": ["x", "y"] }), "ada []"),
        (json!({ "scope": ["x"] }), r#"ada ["x"]"#),
        (json!({ "scope": 7 }), "ada []"),
    ] {
        let reply = whoami_with(&service, &format!("Bearer {}", issuer.token_with(claims.clone()))).await;
        assert_eq!(reply.text(), expected, "{claims}");
    }
    let mut claims = issuer.claims();
    claims.as_object_mut().unwrap().remove("scope");
    claims["scp"] = json!(["x", "y"]);
    let token = issuer.sign(json!({ "alg": "ES256", "kid": "p256" }), &claims);
    assert_eq!(whoami_with(&service, &format!("Bearer {token}")).await.text(), r#"ada ["x", "y"]"#);
}

#[tokio::test]
async fn without_a_token_every_method_is_401_and_says_where_to_get_one() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth().required_scopes(["a", "c:d"]));
    for method in [Method::POST, Method::GET, Method::DELETE, Method::PUT] {
        let reply = send(&service, method, &[], "not even JSON".to_owned()).await;
        assert_eq!(reply.status, 401);
        assert_eq!(reply.challenge(), format!(r#"Bearer scope="a c:d", {METADATA}"#));
        assert!(reply.body["error"]["message"].as_str().unwrap().contains("authentication is required"));
    }
    assert_eq!(issuer.fetches(), 0, "nothing to verify");
}

#[tokio::test]
async fn a_bad_token_is_invalid_and_a_caller_without_a_scope_is_forbidden() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth().required_scopes(["a", "admin"]));
    let reply = whoami_with(&service, "Bearer made.up.token").await;
    assert_eq!(reply.status, 401);
    assert!(reply.challenge().starts_with(r#"Bearer error="invalid_token", error_description=""#), "{reply:?}");
    assert!(reply.challenge().ends_with(&format!(r#"scope="a admin", {METADATA}"#)), "{reply:?}");
    let reply = whoami_with(&service, &format!("Bearer {}", issuer.token())).await;
    assert_eq!(reply.status, 403);
    assert!(reply.challenge().starts_with(r#"Bearer error="insufficient_scope", "#), "{reply:?}");
    assert!(reply.challenge().ends_with(&format!(r#"scope="a admin", {METADATA}"#)), "{reply:?}");
    let token = issuer.token_with(json!({ "scope": "admin a" }));
    assert_eq!(whoami_with(&service, &format!("Bearer {token}")).await.status, 200);
}

#[tokio::test]
async fn anonymous_callers_are_served_only_where_they_are_welcome() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth().optional().required_scopes(["a"]));
    assert_eq!(call(&service, "whoami", &[], json!({})).await.text(), "nobody");
    assert_eq!(whoami_with(&service, &format!("Bearer {}", issuer.token())).await.text(), r#"ada ["a", "b"]"#);
    assert_eq!(
        whoami_with(&service, "Bearer made.up.token").await.status,
        401,
        "a bad token is not an anonymous caller"
    );
    assert_eq!(whoami_with(&service, "Basic YWRhOnB3").await.status, 400);
}

#[tokio::test]
async fn the_document_about_the_server_is_for_everybody() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth().required_scopes(["a"]));
    let document = send(&service.resource_metadata(), Method::GET, &[], String::new()).await;
    assert_eq!(document.status, 200);
    let expected = json!({
        "resource": AUDIENCE, "authorization_servers": [issuer.url], "bearer_methods_supported": ["header"],
        "resource_name": "shop", "scopes_supported": ["a"],
    });
    assert_eq!(document.body, expected);
    assert_eq!(send(&service.resource_metadata(), Method::POST, &[], String::new()).await.status, 405);
    let named = Auth::jwt("https://id.example", "api://shop").jwks(issuer.jwks().to_string());
    let service = crate::auth::service(named);
    let document = send(&service.resource_metadata(), Method::GET, &[], String::new()).await;
    assert_eq!(document.body["resource"], "http://localhost/mcp", "as the request names it");
}

#[tokio::test]
async fn a_server_with_its_own_address_serves_the_document_at_its_well_known_paths() {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };
    let issuer = Issuer::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (logged, _guard) = crate::logged::Logged::here();
    let http = transport::Config::new().auth(issuer.auth()).websocket("/mcp/ws").sse("/sse");
    tokio::spawn(server_at(http).build().unwrap().serve_http(listener));
    let get = async |path: &str, token: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{token}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        reply
    };
    for path in ["", "/", "/mcp", "/mcp/ws", "/sse"] {
        let reply = get(&format!("/.well-known/oauth-protected-resource{path}"), "").await;
        let own = if path.len() > 1 { format!("https://mcp.example{path}") } else { AUDIENCE.to_owned() };
        let named = format!(r#""resource":"{own}""#);
        assert!(reply.starts_with("HTTP/1.1 200") && reply.contains(&named), "{path}: {reply}");
    }
    // Each path names its own document, and takes a token for its own address.
    for path in ["/mcp", "/mcp/ws", "/sse"] {
        let reply = get(path, "").await;
        let document = format!("https://mcp.example/.well-known/oauth-protected-resource{path}\"");
        assert!(reply.starts_with("HTTP/1.1 401") && reply.contains(&document), "{path}: {reply}");
        let token = issuer.token_with(json!({ "aud": format!("https://mcp.example{path}") }));
        let reply = get(path, &format!("Accept: text/plain\r\nAuthorization: Bearer {token}\r\n")).await;
        assert!(!reply.starts_with("HTTP/1.1 401"), "{path}: {reply}");
    }
    assert!(get("/.well-known/oauth-protected-resource/other", "").await.starts_with("HTTP/1.1 404"));
    assert!(get("/healthz", "").await.starts_with("HTTP/1.1 200"));
    assert!(get("/mcp", "Authorization: Bearer hunter2.is.secret\r\n").await.starts_with("HTTP/1.1 401"));
    let logged = logged.text();
    let refused: Vec<_> = logged.lines().filter(|line| line.contains("refused a request")).collect();
    assert!(refused.len() == 1 && refused[0].contains("peer=\"127.0.0.1:"), "{logged}");
    assert!(!logged.contains("hunter2"), "{logged}");
}

#[tokio::test]
async fn a_token_that_expires_in_a_session_is_401_and_a_fresh_one_continues() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    let ada = format!("Bearer {}", issuer.token());
    let began = send(&service, Method::POST, &[("authorization", &ada)], initialize()).await;
    let session = began.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let with = async |authorization: &str, session: &str| {
        let headers =
            [("authorization", authorization), ("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
        send(&service, Method::POST, &headers, list.clone()).await
    };
    assert_eq!(with(&ada, &session).await.status, 200);
    let expired = format!("Bearer {}", issuer.token_with(json!({ "exp": now() - 31 })));
    assert_eq!(with(&expired, &session).await.status, 401);
    // Another token of the same caller, with other scopes.
    let fresh = format!("Bearer {}", issuer.token_with(json!({ "scope": "z", "jti": "2" })));
    assert_eq!(with(&fresh, &session).await.status, 200);
    // Another caller, and the same subject of nobody.
    let bob = format!("Bearer {}", issuer.token_with(json!({ "sub": "bob" })));
    let (stolen, unknown) = (with(&bob, &session).await, with(&bob, "made-up").await);
    assert_eq!(stolen.status, 404);
    assert_eq!(stolen.body, unknown.body, "a session of somebody else does not exist");
    assert_eq!(with(&ada, &session).await.status, 200);
}

#[tokio::test]
async fn the_state_of_another_caller_is_an_invalid_state() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth());
    let [ada, bob] = ["ada", "bob"].map(|subject| format!("Bearer {}", issuer.token_with(json!({ "sub": subject }))));
    let asked = call(&service, "ask", &[("authorization", &ada)], json!({})).await;
    assert_eq!(asked.body["result"]["resultType"], "input_required", "{asked:?}");
    let rest = json!({
        "requestState": asked.body["result"]["requestState"],
        "inputResponses": { "sure": { "action": "accept", "content": { "yes": true } } },
    });
    let refused = call(&service, "ask", &[("authorization", &bob)], rest.clone()).await;
    assert_eq!(refused.body["error"]["data"]["reason"], "invalid_request_state", "{refused:?}");
    let fresh = format!("Bearer {}", issuer.token_with(json!({ "jti": "fresh", "scope": "z" })));
    let done = call(&service, "ask", &[("authorization", &fresh)], rest).await;
    assert_eq!(done.body["result"]["resultType"], "complete", "{done:?}");
}

#[tokio::test]
async fn settings_that_cannot_work_are_mistakes() {
    let check = |auth: Auth| {
        let server = Server::new("shop", "1.0.0").http(transport::Config::new().auth(auth));
        server.check().map_err(|error| error.to_string())
    };
    assert!(check(Auth::jwt("https://id.example", AUDIENCE)).is_ok());
    for (auth, mistake) in [
        (Auth::jwt("http://id.example", AUDIENCE), "not encrypted"),
        (Auth::jwt("id.example", AUDIENCE), "is not a URL"),
        (Auth::jwt("https://id.example", ""), "the audience is empty"),
        (Auth::jwt("https://id.example", AUDIENCE).jwks_url("http://10.0.0.1/keys"), "not encrypted"),
        (Auth::jwt("https://id.example", AUDIENCE).required_scopes(["a b"]), "`a b` is not a scope"),
        (Auth::jwt("https://id.example", AUDIENCE).required_scopes(["a\""]), "is not a scope"),
        (Auth::introspection("https://id.example", AUDIENCE), "where to get tokens"),
        (Auth::api_key("x-api-key"), "there is no key"),
        (Auth::api_key("x-api-key").key("short", Principal::new("a")), "fewer than 16"),
    ] {
        let error = check(auth).unwrap_err();
        assert!(error.contains(mistake), "{error}");
    }
}

#[tokio::test]
async fn the_test_client_logs_in_with_a_header() {
    let issuer = Issuer::start().await;
    let client = Client::new(server(issuer.auth())).header("authorization", &format!("Bearer {}", issuer.token()));
    rejoinder::testing::in_both_eras(client, async |client| {
        let reply = client.call_tool("whoami", Value::Null).await.unwrap();
        assert_eq!(reply.text(), r#"ada ["a", "b"]"#);
    })
    .await;
}

#[tokio::test]
async fn a_scope_of_one_item_is_a_step_up() {
    let issuer = Issuer::start().await;
    let service = service(issuer.auth().required_scopes(["a"]));
    let with = async |scope: &str| {
        let bearer = format!("Bearer {}", issuer.token_with(json!({ "scope": scope })));
        call(&service, "write", &[("authorization", &bearer)], json!({})).await
    };
    assert_eq!(with("a b files:write").await.text(), "written");
    for scope in ["a", "a b", "a files:write", "a b files:writes"] {
        let refused = with(scope).await;
        assert_eq!(refused.status, 403, "{scope}");
        let challenge = refused.challenge();
        assert!(challenge.starts_with(r#"Bearer error="insufficient_scope", "#), "{challenge}");
        assert!(challenge.ends_with(&format!(r#"scope="a files:write b", {METADATA}"#)), "{challenge}");
        assert_eq!(refused.body["error"]["data"]["scopes"], json!(["files:write", "b"]));
    }
}

#[resolver]
async fn slow_gate() -> bool {
    tokio::task::yield_now().await;
    true
}

#[tool(enabled = slow_gate, scopes = ["files:write", "b"])]
async fn write_behind_a_gate() -> &'static str {
    "written"
}

/// Servers in which the door decides at once or after a while, with a tool that needs scopes.
fn with_scopes(http: transport::Config) -> [(&'static str, Server); 3] {
    let server = || server_at(http.clone()).tools(tools![write_behind_a_gate]);
    let waits = server().middleware(async |request: OperationRequest, next: Next| {
        tokio::task::yield_now().await;
        next.run(request).await
    });
    [("write", server()), ("write_behind_a_gate", server()), ("write", waits)]
}

/// Calls a tool in each era.
async fn in_each_era(service: &McpService, tool: &str, credentials: (&str, &str)) -> [Reply; 2] {
    let began = send(service, Method::POST, &[credentials], initialize()).await;
    let session = began.headers["mcp-session-id"].to_str().unwrap();
    let headers = [credentials, ("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    let params = json!({ "name": tool, "arguments": {} });
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let in_session = send(service, Method::POST, &headers, message.to_string()).await;
    [call(service, tool, &[credentials], json!({})).await, in_session]
}

#[tokio::test]
async fn r3_m7_a_caller_is_asked_for_more_scopes_however_long_the_door_takes() {
    let issuer = Issuer::start().await;
    let http = transport::Config::new().auth(issuer.auth());
    for (tool, server) in with_scopes(http) {
        let service = server.build().unwrap().into_service();
        let bearer = |token: String| format!("Bearer {token}");
        for refused in in_each_era(&service, tool, ("authorization", &bearer(issuer.token()))).await {
            assert_eq!((refused.status.as_u16(), &refused.body["error"]["code"]), (403, &json!(-32600)), "{tool}");
            assert!(refused.challenge().ends_with(&format!(r#"scope="files:write b", {METADATA}"#)), "{refused:?}");
        }
        let more = bearer(issuer.token_with(json!({ "scope": "files:write b" })));
        for reply in in_each_era(&service, tool, ("authorization", &more)).await {
            assert_eq!(reply.text(), "written", "{tool}");
        }
    }
}

#[tokio::test]
async fn c3_3_without_oauth_a_missing_scope_is_an_ordinary_error() {
    let key = "ada's very long key";
    let auth = Auth::api_key("x-api-key").key(key, Principal::new("ada"));
    let by_key = with_scopes(transport::Config::new().auth(auth));
    let by_function = with_scopes(transport::Config::new());
    let by_function = by_function.map(|(tool, server)| (tool, server.principal(|_| Some(Principal::new("ada")))));
    for (tool, server) in by_key.into_iter().chain(by_function) {
        let service = server.build().unwrap().into_service();
        for refused in in_each_era(&service, tool, ("x-api-key", key)).await {
            assert_eq!((refused.status.as_u16(), &refused.body["error"]["code"]), (200, &json!(-32600)), "{tool}");
            assert_eq!(refused.body["error"]["data"]["scopes"], json!(["files:write", "b"]));
            assert!(!refused.headers.contains_key("www-authenticate"), "{refused:?}");
        }
    }
}
