//! C14: the names of extensions, and of what stands in `_meta`.

use rejoinder::testing::Client;
use serde_json::{Value, json};

use crate::protocol::{
    fixture::{built, one_of_each, server},
    questions::{asking, observed},
    wire::{Pipe, message},
};

/// What the protocol itself puts under its own prefix.
const OF_THE_PROTOCOL: [&str; 2] = ["serverInfo", "subscriptionId"];

/// What the protocol lets stand without a prefix.
const BARE: [&str; 4] = ["progressToken", "traceparent", "tracestate", "baggage"];

/// What is wrong with a name, which an extension must have with a prefix.
fn mistake(key: &str, needs_prefix: bool) -> Option<&'static str> {
    let inner = |text: &str, also: &[char]| text.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(&c));
    let begins = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let ends = |text: &str| text.ends_with(|c: char| c.is_ascii_alphanumeric());
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_named = inner(name, &['-', '_', '.']) && begins(name) && ends(name);
    if !(is_named || name.is_empty()) {
        return Some("not a name");
    }
    let Some(prefix) = prefix else {
        return (needs_prefix || !BARE.contains(&key)).then_some("no prefix");
    };
    let labels: Vec<_> = prefix.split('.').collect();
    if !labels
        .iter()
        .all(|label| label.starts_with(|c: char| c.is_ascii_alphabetic()) && inner(label, &['-']) && ends(label))
    {
        return Some("not a prefix");
    }
    let is_reserved = labels.get(1).is_some_and(|label| matches!(*label, "modelcontextprotocol" | "mcp"));
    (is_reserved && !OF_THE_PROTOCOL.contains(&name)).then_some("reserved")
}

/// Every name in a `_meta`, wherever one is.
fn meta_keys<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "_meta" {
                    found.extend(member.as_object().expect("`_meta` is an object").keys().map(String::as_str));
                }
                meta_keys(member, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| meta_keys(value, found)),
        _ => {}
    }
}

#[test]
fn the_rules_for_names_accept_and_refuse() {
    for good in ["com.example/dance", "rejoinder/key", "a-b.c1/x_y.z", "io.modelcontextprotocol/serverInfo"] {
        assert_eq!(mistake(good, true), None, "{good}");
    }
    for bad in
        ["dance", "/dance", "com.example/-dance", "1com/dance", "com.-a/x", "com.mcp/x", "a.modelcontextprotocol.b/x"]
    {
        assert!(mistake(bad, true).is_some(), "{bad}");
    }
    assert_eq!(mistake("traceparent", false), None);
}

#[tokio::test]
async fn c14_all_names_of_the_server_follow_the_rules() {
    let mut messages = Vec::new();
    for (server, mut requests) in [(built(), one_of_each()), (asking(), Vec::new())] {
        let listen = json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["item://1"] } });
        for tool in ["count", "talk", "pack", "everything"] {
            requests.push(("tools/call", json!({ "name": tool, "_meta": observed() })));
        }
        let mut pipe = Pipe::open(&server);
        pipe.send(message("listen", "subscriptions/listen", listen)).await;
        messages.push(pipe.next().await);
        for (id, (method, params)) in requests.into_iter().enumerate() {
            pipe.send(message(id, method, params)).await;
        }
        messages.extend(pipe.close().await);
    }
    let mut keys = Vec::new();
    messages.iter().for_each(|message| meta_keys(message, &mut keys));
    for expected in ["io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/subscriptionId"] {
        assert!(keys.contains(&expected), "{expected} was seen");
    }
    let wrong: Vec<_> = keys.iter().filter_map(|key| Some((key, mistake(key, false)?))).collect();
    assert_eq!(wrong, []);

    let capabilities =
        Client::new(server()).request("server/discover", json!({})).await.unwrap()["capabilities"].clone();
    for group in ["extensions", "experimental"] {
        let names = capabilities.get(group).and_then(Value::as_object).into_iter().flatten();
        for (name, _) in names {
            assert_eq!(mistake(name, true), None, "{name}");
        }
    }
}
