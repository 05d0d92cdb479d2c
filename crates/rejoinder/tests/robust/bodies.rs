//! Bodies that are not a message.

use serde_json::json;

use crate::{
    client::{Post, call},
    fixture::Host,
};

const PARSE: (u16, i64) = (400, -32700);
const INVALID: (u16, i64) = (400, -32600);

#[tokio::test]
async fn a_body_that_is_not_json_is_a_parse_error() {
    let host = Host::start().await;
    let good = call("add", json!({ "a": 1, "b": 2 })).to_string();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", vec![]),
        ("white space", b" \r\n\t ".to_vec()),
        ("no JSON", b"hello".to_vec()),
        ("an open object", b"{".to_vec()),
        ("an open string", b"{\"jsonrpc".to_vec()),
        ("a comma too many", b"{\"jsonrpc\":\"2.0\",}".to_vec()),
        ("a comma too few", b"{\"jsonrpc\":\"2.0\" \"id\":1}".to_vec()),
        ("a leading comma", b"{,\"jsonrpc\":\"2.0\"}".to_vec()),
        ("a colon too few", b"{\"jsonrpc\" \"2.0\"}".to_vec()),
        ("single quotes", b"{'jsonrpc':'2.0'}".to_vec()),
        ("a bare key", b"{jsonrpc:\"2.0\"}".to_vec()),
        ("a comment", b"{/* */\"jsonrpc\":\"2.0\"}".to_vec()),
        ("NaN", b"{\"jsonrpc\":\"2.0\",\"id\":NaN}".to_vec()),
        ("a leading zero", b"{\"jsonrpc\":\"2.0\",\"id\":01}".to_vec()),
        ("a line break in a string", b"{\"jsonrpc\":\"2.0\",\"id\":\"a\nb\"}".to_vec()),
        ("a byte order mark", [b"\xEF\xBB\xBF", good.as_bytes()].concat()),
        ("UTF-16", good.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("trailing garbage", [good.as_bytes(), b"}"].concat()),
        ("two messages", [good.as_bytes(), b"\n", good.as_bytes()].concat()),
        ("cut short", good.as_bytes()[..good.len() - 1].to_vec()),
        ("a zero byte", [good.as_bytes(), b"\0"].concat()),
    ];
    for (what, body) in cases {
        assert_eq!(host.post(&Post::raw(body)).await.refusal(), PARSE, "{what}");
    }
    host.still_answers().await;
}

#[tokio::test]
async fn json_that_is_not_a_message_is_an_invalid_request() {
    let host = Host::start().await;
    let good = call("add", json!({ "a": 1, "b": 2 }));
    for body in ["[]", "[[]]", "null", "true", "1", "-1.5e300", "\"text\"", &json!([good, good]).to_string()] {
        let response = host.post(&Post::raw(body)).await;
        assert_eq!(response.refusal(), INVALID, "{body}");
        assert!(response.json()["id"].is_null(), "{body}");
    }
    let batch = host.post(&Post::raw("[]")).await;
    assert_eq!(batch.message(), "batches are not supported: send one message per request");
    host.still_answers().await;
}

#[tokio::test]
async fn white_space_around_a_message_is_allowed() {
    let host = Host::start().await;
    let good = call("add", json!({ "a": 1, "b": 2 }));
    let pretty = serde_json::to_string_pretty(&good).expect("JSON");
    assert_eq!(host.post(&Post::raw(format!("\r\n\t {pretty}\r\n\r\n"))).await.text(), "3");
}

#[tokio::test]
async fn text_that_is_not_utf8_is_a_parse_error_wherever_it_is() {
    let host = Host::start().await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"x":"META"}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":"ID","method":"tools/call","KEY":"EXTRA","params":{{"name":"anything","arguments":{{"value":{{"DEEP":"VALUE"}}}},"OTHER":"MORE",{meta}}}}}"#
    );
    for place in ["ID", "KEY", "EXTRA", "DEEP", "VALUE", "OTHER", "MORE", "META"] {
        let at = body.find(place).expect("the place is there");
        for bad in [&b"\xFF"[..], b"\xC3", b"\xED\xA0\x80", b"\xF5\x80\x80\x80"] {
            let bytes = [&body.as_bytes()[..at], bad, &body.as_bytes()[at + place.len()..]].concat();
            let response = host.post(&Post::raw(bytes).set("Mcp-Name", "anything")).await;
            assert_eq!(response.refusal(), PARSE, "{bad:?} in {place}");
        }
    }
    host.still_answers().await;
}

/// `"\ud800"` is JSON by its grammar, but no text: it may be refused anywhere, and must never be half understood.
#[tokio::test]
async fn half_a_surrogate_pair_never_makes_arguments_disappear() {
    let host = Host::start().await;
    for arguments in [r#"{"\ud800":1}"#, r#"{"text":"\ud800"}"#, r#"{"\udc00":null,"text":"sent"}"#] {
        let body = call("optional", json!("ARGUMENTS")).to_string().replace("\"ARGUMENTS\"", arguments);
        let answer = host.post(&Post::raw(body).set("Mcp-Name", "optional")).await.json();
        assert!(answer["result"]["isError"] == true || answer["error"].is_object(), "{arguments}: {answer}");
    }
    host.still_answers().await;
}

#[tokio::test]
async fn deep_nesting_is_refused_or_skipped_without_deep_recursion() {
    let host = Host::start().await;
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    let arrays = deep("[", "]");
    let objects = deep(r#"{"a":"#, "}");
    let good = |arguments: &str, extra: &str| {
        let body = call("anything", json!({ "value": "ARGUMENT" })).to_string();
        let body = body.replace("\"ARGUMENT\"", arguments);
        body.replacen("\"_meta\":{", &format!("\"_meta\":{{\"x\":{extra},"), 1)
    };
    for nested in [&arrays, &objects] {
        let top = host.post(&Post::raw(nested.as_str())).await;
        assert_eq!((top.status, top.json()["result"].is_null()), (400, true));

        let argument = host.post(&Post::raw(good(nested, "1")).set("Mcp-Name", "anything")).await;
        assert_eq!(argument.json()["result"]["isError"], true, "{}", argument.json());
        assert!(argument.text().contains("recursion limit"), "{}", argument.text());

        // An unknown entry of `_meta` is not read.
        let meta = host.post(&Post::raw(good("1", nested)).set("Mcp-Name", "anything")).await;
        assert_eq!(meta.text(), "1");

        for key in ["io.modelcontextprotocol/logLevel", "progressToken"] {
            let mut message = call("add", json!({ "a": 1, "b": 2 }));
            message["params"]["_meta"][key] = "DEEP".into();
            let body = message.to_string().replace("\"DEEP\"", nested);
            assert_eq!(host.post(&Post::raw(body)).await.refusal(), (400, -32602), "{key}");
        }
    }
    for unfinished in ["[".repeat(100_000), r#"{"a":"#.repeat(100_000)] {
        assert_eq!(host.post(&Post::raw(unfinished)).await.refusal(), PARSE);
    }
    host.still_answers().await;
}
