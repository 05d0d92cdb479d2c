//! What is the same in both eras, on every transport.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rejoinder::prelude::*;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    client::{Post, observed, within},
    fixture::Host,
    ways::{LEGACY, Link, Way, in_session, initialize},
};

const ADD: &str = r#"{"a":1,"b":2}"#;

fn add(way: &Way) -> String {
    way.call("add", json!({ "a": 1, "b": 2 })).to_string()
}

#[tokio::test]
async fn an_invalid_message_is_refused_and_the_next_one_answered() {
    let host = Host::start().await;
    for mut way in Way::all(&host).await {
        let good = add(&way);
        let deep = "[".repeat(100_000);
        let whole_deep = format!("{deep}{}", "]".repeat(100_000));
        let cases: Vec<(&str, Vec<u8>, i64)> = vec![
            ("no JSON", b"hello".to_vec(), -32700),
            ("cut short", good.as_bytes()[..good.len() - 1].to_vec(), -32700),
            ("trailing garbage", [good.as_bytes(), b"}"].concat(), -32700),
            ("two messages", [good.as_bytes(), good.as_bytes()].concat(), -32700),
            ("no UTF-8", b"\xFF\xFE".to_vec(), -32700),
            (
                "no UTF-8 in an argument",
                good.replace("\"a\"", "\"?\"")
                    .into_bytes()
                    .into_iter()
                    .map(|byte| if byte == b'?' { 0xFF } else { byte })
                    .collect(),
                -32700,
            ),
            ("a byte order mark", [b"\xEF\xBB\xBF", good.as_bytes()].concat(), -32700),
            ("deep and unfinished", deep.into_bytes(), -32700),
            ("deep", whole_deep.into_bytes(), -32600),
            ("an empty batch", b"[]".to_vec(), -32600),
            ("a batch", format!("[{good},{good}]").into_bytes(), -32600),
            ("null", b"null".to_vec(), -32600),
            ("a number", b"7".to_vec(), -32600),
            ("text", b"\"text\"".to_vec(), -32600),
            ("an empty object", b"{}".to_vec(), -32600),
        ];
        for (what, bytes, code) in cases {
            if !way.carries_bytes() && String::from_utf8(bytes.clone()).is_err() {
                continue;
            }
            let (status, answer) = way.raw(bytes).await;
            assert_eq!(answer["error"]["code"], code, "{what} over {}: {answer}", way.name());
            assert!(status.is_none_or(|status| status == 400), "{what} over {}: {status:?}", way.name());
            way.still_answers().await;
        }
    }
}

/// The tasks that tools left behind.
#[derive(Default)]
struct LeftBehind(Mutex<JoinSet<()>>);

/// Leaves tasks behind that report progress and log without end.
#[tool]
async fn leave_tasks_behind(ctx: Context, left: Dep<LeftBehind>) -> &'static str {
    for _ in 0..4 {
        let ctx = ctx.clone();
        left.0.lock().expect("nobody panics").spawn(async move {
            for step in 1.. {
                ctx.progress(f64::from(step)).await;
                ctx.info("still here").await;
                // When the call has ended, neither of them waits.
                tokio::task::yield_now().await;
            }
        });
    }
    ctx.progress(0.5).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    "done"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r_h3_a_reply_does_not_wait_for_what_its_function_left_running() {
    let left = Arc::new(LeftBehind::default());
    let host = Host::start_with(|server| server.provide_arc(Arc::clone(&left)).tools(tools![leave_tasks_behind])).await;
    for mut way in Way::all(&host).await {
        let call = observed(way.call("leave_tasks_behind", json!({})), 7);
        let answer = within(way.ask(&call)).await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "over {}: {answer}", way.name());
        left.0.lock().expect("nobody panics").abort_all();
        way.still_answers().await;
    }
}

/// Valid JSON that no Rust type can hold: the client must still get a reply.
#[tokio::test]
async fn arguments_that_no_type_can_hold_get_a_reply() {
    let host = Host::start().await;
    let deep = format!(r#"{{"a":{}1{},"b":2}}"#, "[".repeat(200), "]".repeat(200));
    for mut way in Way::all(&host).await {
        for arguments in [r#"{"a":"\ud83d","b":2}"#, r#"{"a":1e999,"b":2}"#, r#"{"\udc00":1,"a":1,"b":2}"#, &deep] {
            let (_, answer) = way.raw(add(&way).replace(ADD, arguments)).await;
            let refused = answer["error"].is_object() || answer["result"]["isError"] == true;
            assert!(refused, "{arguments} over {}: {answer}", way.name());
            assert_eq!(answer["id"], 1, "{arguments} over {}: {answer}", way.name());
            way.still_answers().await;
        }
    }
}

/// What each way tells of a call whose arguments are exactly this text.
async fn result_text(way: &mut Way, tool: &str, arguments: &str) -> String {
    let message = way.call(tool, json!("ARGUMENTS")).to_string().replacen("\"ARGUMENTS\"", arguments, 1);
    let answer = match way {
        Way::Stateless(_) => way.post(&Post::raw(message).set("Mcp-Name", tool)).await.1,
        _ => way.raw(message).await.1,
    };
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}: {answer}", way.name())).to_owned()
}

#[tokio::test]
async fn integers_of_128_bits_are_read_to_the_last_digit() {
    let host = Host::start().await;
    let (most, least) = (u128::MAX, i128::MIN);
    for mut way in Way::all(&host).await {
        let text = result_text(&mut way, "wide", &format!(r#"{{"most":{most},"least":{least}}}"#)).await;
        assert_eq!(text, format!("{most} {least}"), "over {}", way.name());
        let text = result_text(&mut way, "wide", r#"{ "least" : -1, "most" : 18446744073709551616 }"#).await;
        assert_eq!(text, "18446744073709551616 -1", "over {}", way.name());
        let text = result_text(&mut way, "wide", &format!(r#"{{"most":{most}0,"least":{least}}}"#)).await;
        let expected = "Invalid argument `most`: expected an integer, got the number `3.4028236692093846e+39`.";
        assert_eq!(text, expected, "over {}", way.name());
        let text = result_text(&mut way, "wide", r#"{"most":3.5,"least":1}"#).await;
        let expected = "Invalid argument `most`: expected an integer, got the number `3.5`.";
        assert_eq!(text, expected, "over {}", way.name());
        // A name that looks internal is an ordinary unknown argument.
        for words in ["rejoinder/arguments", r"rejoinder\/arguments", r"\u0072ejoinder/arguments"] {
            let text = result_text(&mut way, "wide", &format!(r#"{{"{words}":"{{\"most\":1,\"least\":1}}"}}"#)).await;
            assert!(text.contains("`rejoinder/arguments`: unknown argument"), "over {}: {text}", way.name());
        }
    }
}

#[tokio::test]
async fn a_number_with_a_zero_fraction_is_an_integer() {
    let host = Host::start().await;
    for mut way in Way::all(&host).await {
        let text = result_text(&mut way, "wide", r#"{"most":3e2,"least":-7.00}"#).await;
        assert_eq!(text, "300 -7", "over {}", way.name());
        // A float does not hold this one exactly.
        let text = result_text(&mut way, "wide", r#"{"most":36893488147419103232.0,"least":1}"#).await;
        assert!(text.contains("`most`: expected an integer"), "over {}: {text}", way.name());
        let text = result_text(&mut way, "between", r#"{"span":{"from":1.0,"to":3}}"#).await;
        assert_eq!(text, "2", "over {}", way.name());
        let text = result_text(&mut way, "between", r#"{"span":{"from":1.0,"to":3.5}}"#).await;
        assert!(text.contains("got the number `3.5`"), "over {}: {text}", way.name());
    }
}

#[tokio::test]
async fn a_duplicate_name_inside_an_argument_is_refused() {
    let host = Host::start().await;
    for mut way in Way::all(&host).await {
        for twice in [r#"{"from":1,"from":2,"to":3}"#, r#"{"from":1,"to":3,"\u0066rom":2}"#] {
            let text = result_text(&mut way, "between", &format!(r#"{{"span":{twice}}}"#)).await;
            assert_eq!(text, "Invalid argument `span`: duplicate field `from`.", "over {}", way.name());
        }
        assert_eq!(result_text(&mut way, "between", r#"{"span":{"from":1,"to":3}}"#).await, "2", "over {}", way.name());
    }
}

#[tokio::test]
async fn fields_of_the_wrong_type_are_refused() {
    let host = Host::start().await;
    let kinds = [json!(null), json!(true), json!(7), json!(-1.5), json!("text"), json!([]), json!([1]), json!({})];
    type Right = fn(&Value) -> bool;
    // Where, which kinds are right there, and the error for all others.
    let cases: [(&str, Right, i64); 7] = [
        ("/jsonrpc", |_| false, -32600),
        ("/id", |kind| kind.is_string() || kind.is_i64(), -32600),
        ("/method", Value::is_string, -32600),
        // Without params there is no name.
        ("/params", |kind| kind.is_object() || kind.is_null(), -32602),
        ("/params/name", Value::is_string, -32602),
        ("/params/arguments", |kind| kind.is_object() || kind.is_null(), -32602),
        ("/params/_meta", |kind| kind.is_object() || kind.is_null(), -32602),
    ];
    for mut way in Way::all(&host).await {
        for (pointer, right, code) in cases {
            for kind in kinds.iter().filter(|kind| !right(kind)) {
                let mut message: Value = serde_json::from_str(&add(&way)).expect("JSON");
                message["params"]["_meta"]["x"] = 1.into();
                *message.pointer_mut(pointer).expect("it is there") = kind.clone();
                let (_, answer) = way.raw(message.to_string()).await;
                let shown = format!("{pointer} = {kind} over {}: {answer}", way.name());
                assert_eq!(answer["error"]["code"], code, "{shown}");
                assert_eq!(answer["id"], if pointer == "/id" { Value::Null } else { json!(1) }, "{shown}");
            }
        }
        way.still_answers().await;
    }
}

/// Text that takes so many bytes of JSON.
fn text(bytes: usize) -> String {
    format!("\"{}\"", "x".repeat(bytes - 2))
}

#[tokio::test]
async fn ids_that_are_too_long_are_refused_and_not_echoed() {
    let host = Host::start().await;
    for mut way in Way::all(&host).await {
        let good = add(&way);
        for id in [text(1025), text(4_000_000), "9".repeat(1025), format!("\"{}\"", "\\u0041".repeat(1024))] {
            let (status, answer) = way.raw(good.replacen("\"id\":1", &format!("\"id\":{id}"), 1)).await;
            let refused = json!({ "jsonrpc": "2.0", "id": null,
                "error": { "code": -32600, "message": "`id` is longer than 1024 bytes" } });
            assert_eq!(answer, refused, "over {}", way.name());
            assert!(status.is_none_or(|status| status == 400), "over {}: {status:?}", way.name());
        }
        way.still_answers().await;
    }
}

#[tokio::test]
async fn progress_tokens_have_the_length_limit_of_ids() {
    let host = Host::start().await;
    for mut way in Way::all(&host).await {
        let mut message = way.call("add", json!({ "a": 1, "b": 2 }));
        message["params"]["_meta"]["progressToken"] = "TOKEN".into();
        let message = message.to_string();
        for token in [text(1025), text(60_000), format!("\"{}\"", "\\u0041".repeat(1024))] {
            let (status, answer) = way.raw(message.replacen("\"TOKEN\"", &token, 1)).await;
            let refused = json!({ "jsonrpc": "2.0", "id": 1, "error": {
                "code": -32602, "message": "`params._meta.progressToken` is longer than 1024 bytes" } });
            assert_eq!(answer, refused, "over {}", way.name());
            let expected = if way.is_session() { 200 } else { 400 };
            assert!(status.is_none_or(|status| status == expected), "over {}: {status:?}", way.name());
        }
        let (_, answer) = way.raw(message.replacen("\"TOKEN\"", &text(1024), 1)).await;
        assert_eq!(answer["result"]["content"][0]["text"], "3", "over {}: {answer}", way.name());
    }
}

#[tokio::test]
async fn ids_are_returned_unchanged_or_refused() {
    let host = Host::start().await;
    let long = text(1024);
    for mut way in Way::all(&host).await {
        let good = add(&way);
        let with_id = |id: &str| good.replacen("\"id\":1", &format!("\"id\":{id}"), 1);
        for id in ["0", "-1", "9007199254740993", "-9223372036854775808", "\"\"", "\"1\"", "\"a\\nb\"", "\"ü\"", &long]
        {
            let (_, answer) = way.raw(with_id(id)).await;
            let sent: Value = serde_json::from_str(id).expect("JSON");
            assert_eq!((&answer["id"], answer["result"].is_object()), (&sent, true), "{id} over {}", way.name());
        }
        for id in ["null", "true", "1.0", "1e3", "[]", "{}"] {
            let (_, answer) = way.raw(with_id(id)).await;
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&Value::Null, &json!(-32600)),
                "{id} over {}",
                way.name()
            );
        }
        way.still_answers().await;
    }
}

#[tokio::test]
async fn duplicates_are_refused() {
    let host = Host::start().await;
    for mut way in Way::all(&host).await {
        let good = add(&way);
        for field in [
            r#""jsonrpc":"2.0""#,
            r#""id":1"#,
            r#""method":"tools/call""#,
            r#""name":"add""#,
            &format!("\"arguments\":{ADD}"),
        ] {
            let twice = good.replacen(field, &format!("{field},{field}"), 1);
            let (_, answer) = way.raw(twice).await;
            assert_eq!(answer["error"]["code"], -32600, "{field} over {}: {answer}", way.name());
        }
        for arguments in [r#"{"a":1,"a":2,"b":2}"#, r#"{"a":1,"b":2,"\u0061":1}"#] {
            let (_, answer) = way.raw(good.replacen(ADD, arguments, 1)).await;
            let text = &answer["result"]["content"][0]["text"];
            assert_eq!(text, "Invalid argument `a`: it was sent twice.", "{answer}");
        }
        let prompt = way.request("prompts/get", json!({ "name": "panicking_prompt", "arguments": "ARGUMENTS" }));
        let prompt = prompt.to_string().replace("\"ARGUMENTS\"", r#"{"text":"a","text":"b"}"#);
        let answer = match &mut way {
            Way::Stateless(_) => {
                let post = Post::raw(prompt);
                host.post(&post.set("Mcp-Method", "prompts/get").set("Mcp-Name", "panicking_prompt")).await.json()
            }
            other => other.raw(prompt).await.1,
        };
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["message"], "Invalid argument `text`: it was sent twice.");
        way.still_answers().await;
    }
}

#[tokio::test]
async fn l12_a_question_is_answered_over_the_same_connection() {
    let host = Host::start().await;
    for mut link in Link::all(&host).await {
        let mut first = initialize(0);
        first["params"]["capabilities"] = json!({ "elicitation": {} });
        link.send(first.to_string()).await;
        assert_eq!(link.message().await["result"]["protocolVersion"], LEGACY);
        link.send(in_session("tools/call", json!({ "name": "asks" })).to_string()).await;
        let question = link.message().await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        // Other requests are answered in between.
        let mut ping = in_session("ping", json!({}));
        ping["id"] = 2.into();
        link.send(ping.to_string()).await;
        assert_eq!(link.message().await, json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
        let yes = json!({ "action": "accept", "content": { "yes": true } });
        link.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }).to_string()).await;
        let answer = link.message().await;
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("true")), "{answer}");
    }
}

#[tokio::test]
async fn a_forged_state_is_refused() {
    let host = Host::start().await;
    for mut way in Way::all(&host).await {
        for state in [json!("junk"), json!(""), json!(7), json!({}), json!("rj1.AAAA.BBBB")] {
            for (method, mut params) in [
                ("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })),
                ("prompts/get", json!({ "name": "panicking_prompt", "arguments": { "text": "t" } })),
                ("resources/read", json!({ "uri": "panic://now" })),
            ] {
                params["requestState"] = state.clone();
                let message = way.request(method, params);
                let answer = way.ask(&message).await;
                let shown = format!("{method} {state} over {}: {answer}", way.name());
                assert_eq!(answer["error"]["code"], -32602, "{shown}");
                assert_eq!(answer["error"]["data"], json!({ "reason": "invalid_request_state" }), "{shown}");
            }
        }
        for responses in [json!("junk"), json!([]), json!({ "a": 1 }), json!({ "a": { "action": "perhaps" } })] {
            let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 }, "inputResponses": responses });
            let message = way.request("tools/call", params);
            let answer = way.ask(&message).await;
            assert_eq!(answer["error"]["code"], -32602, "{responses} over {}: {answer}", way.name());
        }
        // An answer to nothing that was asked counts for nothing.
        let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 }, "inputResponses": { "a": { "action": "decline" } } });
        let message = way.request("tools/call", params);
        assert_eq!(way.ask(&message).await["result"]["content"][0]["text"], "3", "{}", way.name());
        way.still_answers().await;
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_error_with_an_id() {
    let host = Host::start().await;
    let complete = json!({ "ref": { "type": "ref/prompt", "name": "panicking_prompt" },
        "argument": { "name": "text", "value": "" } });
    let requests = [
        ("tools/call", json!({ "name": "panic_at_once" })),
        ("tools/call", json!({ "name": "panic_later" })),
        ("tools/call", json!({ "name": "panic_after_progress", "_meta": { "progressToken": 7 } })),
        ("tools/call", json!({ "name": "panic_in_drop", "arguments": { "stay": false } })),
        ("tools/call", json!({ "name": "panic_while_reading", "arguments": { "mine": 1 } })),
        ("prompts/get", json!({ "name": "panicking_prompt", "arguments": { "text": "t" } })),
        ("prompts/get", json!({ "name": "prompt_with_a_mine", "arguments": { "mine": "x" } })),
        ("resources/read", json!({ "uri": "panic://now" })),
        ("resources/read", json!({ "uri": "mine://x" })),
        ("completion/complete", complete),
    ];
    for mut way in Way::all(&host).await {
        for (method, params) in &requests {
            let message = way.request(method, params.clone());
            let answer = way.ask(&message).await;
            let shown = format!("{message} over {}: {answer}", way.name());
            assert_eq!(answer["id"], 1, "{shown}");
            if way.is_session() && *method == "tools/call" {
                assert_eq!(answer["result"]["isError"], true, "{shown}");
            } else {
                assert_eq!(answer["error"]["code"], -32603, "{shown}");
                assert!(answer["error"]["data"]["id"].is_string(), "{shown}");
            }
            way.still_answers().await;
        }
    }
}
