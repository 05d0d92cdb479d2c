//! C65, C66: for how long, and by whom, replies may be kept.

use rejoinder::{
    prelude::*,
    server::{CacheHints, CacheScope},
    testing::Client,
};
use serde_json::{Value, json};

use crate::protocol::fixture::server;

const LISTS: [&str; 5] =
    ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"];

fn hints(result: &Value) -> (u64, &str) {
    (result["ttlMs"].as_u64().expect("ttlMs"), result["cacheScope"].as_str().expect("cacheScope"))
}

#[tokio::test]
async fn c65_lists_and_contents_have_cache_hints() {
    let client = Client::new(server());
    for method in LISTS {
        assert_eq!(hints(&client.request(method, json!({})).await.unwrap()), (60_000, "private"), "{method}");
    }
    for uri in ["text://readme", "item://1"] {
        let result = client.request("resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(hints(&result), (0, "private"));
    }
}

#[tokio::test]
async fn c65_other_results_have_no_cache_hints() {
    let client = Client::new(server());
    for (method, params) in [
        ("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })),
        ("prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } })),
    ] {
        let result = client.request(method, params).await.unwrap();
        assert_eq!((result.get("ttlMs"), result.get("cacheScope")), (None, None), "{method}");
    }
}

#[tokio::test]
async fn c65_the_hints_of_all_lists_can_be_set() {
    let public = CacheHints { ttl_ms: 5, scope: CacheScope::Public };
    let client = Client::new(server().cache_lists(public));
    for method in LISTS {
        assert_eq!(hints(&client.request(method, json!({})).await.unwrap()), (5, "public"), "{method}");
    }
}

#[resource("cached://short", ttl_ms = 50)]
async fn short() -> &'static str {
    "short"
}

#[resource("cached://open", public)]
async fn open() -> &'static str {
    "open"
}

#[resource("cached://own", ttl_ms = 7, public = false)]
async fn own() -> &'static str {
    "own"
}

#[tokio::test]
async fn c65_a_resource_overrides_the_hints_of_the_server() {
    let server = server()
        .resources(resources![short, open, own])
        .cache_contents(CacheHints { ttl_ms: 9, scope: CacheScope::Public });
    let client = Client::new(server);
    for (uri, expected) in [
        ("text://readme", (9, "public")),
        ("cached://short", (50, "public")),
        ("cached://open", (9, "public")),
        ("cached://own", (7, "private")),
    ] {
        let result = client.request("resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(hints(&result), expected, "{uri}");
    }
}

#[tokio::test]
async fn c65_all_pages_of_a_list_have_the_same_scope() {
    let client = Client::new(server().page_size(1));
    for method in &LISTS[1..] {
        let mut params = json!({});
        loop {
            let page = client.request(method, params).await.unwrap();
            assert_eq!(hints(&page), (60_000, "private"), "{method}");
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
    }
}

/// Only the owner may read it, but the contents may be cached for everybody.
#[resource("diary://today", public, ttl_ms = 60000)]
async fn diary(ctx: Context) -> Result<String, CallError> {
    let reader = ctx.header("x-user").unwrap_or("nobody").to_owned();
    if reader == "ada" { Ok("Dear diary".to_owned()) } else { Err(CallError::new("it is not yours")) }
}

#[tokio::test]
async fn c66_a_public_result_is_still_authorized_for_each_reader() {
    let client = Client::new(Server::new("diaries", "1.0.0").resources(resources![diary]));
    let ada = client.clone().header("x-user", "ada");
    for _ in 0..2 {
        let reply = ada.read_resource("diary://today").await.unwrap();
        assert_eq!((reply.text().as_str(), reply.result.ttl_ms), ("Dear diary", Some(60_000)));
        assert_eq!(
            client.clone().header("x-user", "eve").read_resource("diary://today").await.unwrap_err().code(),
            Some(-32603)
        );
    }
}
