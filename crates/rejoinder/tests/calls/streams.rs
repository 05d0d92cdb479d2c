//! A stream sends its items at once, and ends in a result.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{Stream, StreamExt, stream};
use rejoinder::{
    call::Era,
    prelude::*,
    reply::Text,
    testing::{Client, Response, in_both_eras},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{sync::Notify, time::timeout};

#[derive(Serialize, JsonSchema)]
struct Row {
    name: &'static str,
    size: u32,
}

fn rows() -> impl Stream<Item = Json<Row>> {
    stream::iter([Json(Row { name: "a", size: 1 }), Json(Row { name: "b", size: 2 })])
}

#[tool]
async fn texts() -> ToolStream<String> {
    ToolStream::new(stream::iter(["one\n", "two \"2\"\n", ""].map(String::from)))
}

#[tool]
async fn numbers() -> ToolStream<f64> {
    ToolStream::new(stream::iter([1.5, 2.0]))
}

#[tool]
async fn objects() -> ToolStream<Json<Row>> {
    ToolStream::new(rows())
}

#[tool]
async fn folded() -> ToolStream<Json<Row>, Json<u32>> {
    ToolStream::new(rows()).fold(Json(0), |Json(sum), Json(row)| Json(sum + row.size))
}

#[tool]
fn maybe() -> Result<ToolStream<char>, CallError> {
    Ok(ToolStream::new(stream::iter(['a', 'b'])))
}

/// A stream that does not know its length, and its author does.
#[tool]
async fn counted() -> ToolStream<&'static str> {
    ToolStream::new(stream::iter(["x", "y"]).filter(|_| std::future::ready(true))).total(2)
}

#[tool]
async fn uncounted() -> ToolStream<Cow<'static, str>> {
    ToolStream::new(stream::iter(["x".into()]).filter(|_| std::future::ready(true)))
}

#[tool]
async fn no_text() -> ToolStream<Text<u32>> {
    ToolStream::new(stream::empty())
}

#[tool]
async fn no_number() -> ToolStream<u32> {
    ToolStream::new(stream::empty())
}

#[tool]
async fn breaks() -> ToolStream<u32> {
    ToolStream::try_new(stream::iter([Ok(1), Ok(2), Err(CallError::new("3 is missing")), Ok(4)]))
}

#[tool]
async fn not_json() -> ToolStream<Json<f64>> {
    ToolStream::new(stream::iter([Json(1.0), Json(f64::NAN)]))
}

#[tool]
async fn panics() -> ToolStream<u32> {
    ToolStream::new(stream::iter([1, 0]).map(|number| 1 / number))
}

/// More than is joined.
#[tool]
async fn long() -> ToolStream<String> {
    ToolStream::new(stream::iter(["x".repeat(3_000_000), "y".repeat(1_000_000), "z".repeat(1_000_000), "!".to_owned()]))
}

fn server() -> Server {
    let server = Server::new("streams", "1.0.0").tools(tools![texts, numbers, objects, folded, maybe, counted]);
    server.tools(tools![uncounted, no_text, no_number, breaks, not_json, panics, long])
}

/// Each progress: how far, of how many, and the message.
fn progress(reply: &Response) -> Value {
    let each = reply.progress.iter().map(|sent| json!([sent.progress, sent.total, sent.message]));
    Value::Array(each.collect())
}

#[tokio::test]
async fn l20_items_are_counted_from_one_and_sent_as_they_are() {
    in_both_eras(Client::new(server()), async |client| {
        for (tool, sent, text) in [
            ("texts", json!([[1.0, 3.0, "one\n"], [2.0, 3.0, "two \"2\"\n"], [3.0, 3.0, ""]]), "one\ntwo \"2\"\n"),
            ("numbers", json!([[1.0, 2.0, "1.5"], [2.0, 2.0, "2"]]), "2"),
            (
                "objects",
                json!([[1.0, 2.0, r#"{"name":"a","size":1}"#], [2.0, 2.0, r#"{"name":"b","size":2}"#]]),
                r#"{"name":"b","size":2}"#,
            ),
            (
                "folded",
                json!([[1.0, 2.0, r#"{"name":"a","size":1}"#], [2.0, 2.0, r#"{"name":"b","size":2}"#]]),
                r#"{"result":3}"#,
            ),
            ("maybe", json!([[1.0, 2.0, "a"], [2.0, 2.0, "b"]]), "ab"),
            ("counted", json!([[1.0, 2.0, "x"], [2.0, 2.0, "y"]]), "xy"),
            ("uncounted", json!([[1.0, null, "x"]]), "x"),
            ("no_text", json!([]), ""),
        ] {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert_eq!((progress(&reply), reply.text().as_str(), reply.is_error()), (sent, text, false), "{tool}");
            // Without a progress token there is the result only.
            let params = json!({ "name": tool, "_meta": { "progressToken": null } });
            let result = client.request("tools/call", params).await.unwrap();
            assert_eq!(result["content"][0]["text"], text, "{tool}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_error_comes_after_what_was_sent() {
    in_both_eras(Client::new(server()), async |client| {
        for (tool, sent, text) in
            [("breaks", 2, "3 is missing"), ("no_number", 0, "the stream ended without an item, so there is no result")]
        {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert_eq!((reply.progress.len(), reply.is_error(), reply.text().as_str()), (sent, true, text), "{tool}");
        }
        // What is not for the model is a generic text, or on a stateless client a JSON-RPC error.
        for tool in ["not_json", "panics"] {
            let reply = client.call_tool(tool, json!({})).await;
            let (is_error, sent) = reply.map_or((true, 1), |reply| (reply.is_error(), reply.progress.len()));
            assert!(is_error && sent == 1, "{tool}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_output_schema_is_that_of_the_result() {
    let tools = Client::new(server()).list_tools().await.unwrap();
    let schema = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap().output_schema.clone();
    assert_eq!(schema("texts"), None);
    assert_eq!(schema("numbers").unwrap()["properties"]["result"]["type"], "number");
    assert_eq!(schema("objects").unwrap()["properties"]["size"]["type"], "integer");
    assert_eq!(schema("folded").unwrap()["properties"]["result"]["type"], "integer");
}

/// What a test sees of a stream, and what lets it go on.
#[derive(Default)]
struct Seen {
    made: AtomicUsize,
    go_on: Notify,
    dropped: Notify,
    ends: Mutex<Vec<CallEnd>>,
}

/// Notes that the stream was dropped.
struct Dropped(Dep<Seen>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

/// Makes an item, and then waits until the test goes on.
#[tool]
async fn stepwise(seen: Dep<Seen>, scope: Scope) -> ToolStream<usize> {
    let observed = seen.clone();
    scope.defer(move |end| async move { observed.ends.lock().unwrap().push(end) });
    ToolStream::new(stream::unfold((seen.clone(), Dropped(seen)), async |(seen, dropped)| {
        let item = seen.made.fetch_add(1, Ordering::SeqCst);
        if item > 0 {
            seen.go_on.notified().await;
        }
        (item < 3).then_some((item, (seen, dropped)))
    }))
}

#[tokio::test]
async fn l16_a_client_that_leaves_drops_the_stream() {
    for era in [Era::Stateless, Era::Session] {
        let seen = Arc::new(Seen::default());
        let server = Server::new("streams", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![stepwise]);
        let client = Client::new(server).era(era);
        let call = tokio::spawn(async move { client.call_tool("stepwise", json!({})).await });
        let begun = async {
            while seen.made.load(Ordering::SeqCst) < 2 {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(30), begun).await.expect("it begins");
        call.abort();
        timeout(Duration::from_secs(30), seen.dropped.notified()).await.expect("it is dropped");
        let torn_down = async {
            while seen.ends.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(30), torn_down).await.expect("teardown runs");
        assert_eq!(*seen.ends.lock().unwrap(), [CallEnd::Cancelled]);
    }
}

#[tokio::test]
async fn teardown_waits_for_the_stream() {
    for era in [Era::Stateless, Era::Session] {
        let seen = Arc::new(Seen::default());
        let server = Server::new("streams", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![stepwise]);
        let client = Client::new(server).era(era);
        let reply = tokio::join!(client.call_tool("stepwise", json!({})), async {
            for made in 2..=4 {
                while seen.made.load(Ordering::SeqCst) < made {
                    tokio::task::yield_now().await;
                }
                assert!(seen.ends.lock().unwrap().is_empty());
                seen.go_on.notify_one();
            }
        });
        assert_eq!(reply.0.unwrap().text(), "2");
        assert_eq!(*seen.ends.lock().unwrap(), [CallEnd::Succeeded]);
    }
}

#[tool(timeout = "1s")]
async fn times_out(scope: Scope, seen: Dep<Seen>) -> ToolStream<u32> {
    scope.defer(move |end| async move { seen.ends.lock().unwrap().push(end) });
    ToolStream::new(stream::iter([1]).chain(stream::pending()))
}

#[tokio::test(start_paused = true)]
async fn a_timeout_covers_the_stream() {
    for era in [Era::Stateless, Era::Session] {
        let seen = Arc::new(Seen::default());
        let server = Server::new("streams", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![times_out]);
        let reply = Client::new(server).era(era).call_tool("times_out", json!({})).await.unwrap();
        assert_eq!((reply.progress.len(), reply.is_error()), (1, true), "{}", reply.text());
        assert_eq!(*seen.ends.lock().unwrap(), [CallEnd::TimedOut]);
    }
}

#[tokio::test]
async fn a_unit_test_reads_the_items() {
    let items: Vec<_> = objects().await.map(|row| row.unwrap().0.name).collect().await;
    assert_eq!(items, ["a", "b"]);
}

#[tokio::test]
async fn a3_m10_joined_texts_end_at_a_limit_and_the_result_says_so() {
    in_both_eras(Client::new(server()), async |client| {
        let result = client.request("tools/call", json!({ "name": "long" })).await.unwrap();
        let [joined, note] = &result["content"].as_array().expect("content")[..] else { panic!("two texts") };
        assert_eq!(joined["text"].as_str().map(str::len), Some(4_000_000), "whole items");
        assert_eq!(note["text"], "The text before this is cut: the texts of the stream are too long to join.");
    })
    .await;
}
