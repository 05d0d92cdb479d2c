//! Questions over a session, and clients that do not simply answer them.

use std::{collections::HashMap, sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};

use super::{
    fixture::{Fixture, fixture, until},
    http::{Events, Http},
    pipe::Pipe,
};
use crate::call::CallEnd;

/// A client with a session.
pub(super) enum Client {
    Pipe(Pipe),
    /// Each call has a stream of its own.
    Http(Http, HashMap<&'static str, Events>),
}

impl Client {
    async fn each(fixture: &Fixture, capabilities: Value) -> [Self; 2] {
        Self::each_of("2025-11-25", fixture, capabilities).await
    }

    pub(super) async fn each_of(version: &'static str, fixture: &Fixture, capabilities: Value) -> [Self; 2] {
        let mut pipe = Pipe::open(fixture);
        pipe.initialize_with(version, capabilities.clone()).await;
        let mut http = Http::new(fixture);
        http.initialize_with(version, capabilities).await;
        [Self::Pipe(pipe), Self::Http(http, HashMap::new())]
    }

    pub(super) async fn call(&mut self, id: &'static str, tool: &str, arguments: Value) {
        self.call_with(id, json!({ "name": tool, "arguments": arguments })).await;
    }

    async fn call_with(&mut self, id: &'static str, params: Value) {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        match self {
            Self::Pipe(pipe) => pipe.send(call).await,
            Self::Http(http, calls) => {
                calls.insert(id, Events::of(http.post(call).await));
            }
        }
    }

    /// The next message; over HTTP, the next one of that call.
    pub(super) async fn next(&mut self, id: &'static str) -> Value {
        match self {
            Self::Pipe(pipe) => pipe.next().await,
            Self::Http(_, calls) => loop {
                let event = calls.get_mut(id).expect("a call").next().await.expect("a message");
                if let Some(message) = event.data {
                    return message;
                }
            },
        }
    }

    /// The next message that belongs to no call.
    async fn received(&mut self) -> Value {
        match self {
            Self::Pipe(pipe) => pipe.next().await,
            Self::Http(http, calls) => {
                calls.insert("none", Events::of(http.send("GET", &[], Value::Null).await));
                self.next("none").await
            }
        }
    }

    pub(super) async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        match self {
            Self::Pipe(pipe) => pipe.send(message).await,
            Self::Http(http, _) => assert_eq!(http.post(message).await.status(), 202),
        }
    }

    async fn answer(&mut self, question: &Value, yes: bool) {
        let result = json!({ "action": "accept", "content": { "yes": yes } });
        self.send(json!({ "id": question["id"], "result": result })).await;
    }

    pub(super) async fn still_answers(&mut self) {
        self.call("after", "add", json!({ "a": 1, "b": 2 })).await;
        let reply = self.next("after").await;
        assert_eq!((&reply["id"], &reply["result"]["content"][0]["text"]), (&json!("after"), &json!("3")), "{reply}");
    }
}

pub(super) fn can_be_asked() -> Value {
    json!({ "elicitation": {} })
}

pub(super) fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {reply}"))
}

#[tokio::test]
async fn calls_that_ask_at_the_same_time_get_their_own_answers() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("one", "ask", json!({ "what": "tea" })).await;
        client.call("two", "ask", json!({ "what": "milk" })).await;
        let mut questions = [client.next("one").await, client.next("two").await];
        questions.sort_by_key(|question| question["params"]["message"].to_string());
        let [milk, tea] = questions;
        assert_eq!((&milk["params"]["message"], &tea["params"]["message"]), (&json!("milk?"), &json!("tea?")));
        client.answer(&milk, false).await;
        let reply = client.next("two").await;
        assert_eq!((&reply["id"], text(&reply)), (&json!("two"), "milk: false"));
        client.answer(&tea, true).await;
        let reply = client.next("one").await;
        assert_eq!((&reply["id"], text(&reply)), (&json!("one"), "tea: true"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_h4_a_question_that_nobody_answers_ends_the_call() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "ask", json!({})).await;
        let question = client.next("call").await;
        let asked = tokio::time::Instant::now();
        let withdrawn = client.next("call").await;
        assert_eq!(asked.elapsed().as_secs(), 600);
        assert_eq!(withdrawn["params"]["requestId"], question["id"], "{withdrawn}");
        let reply = client.next("call").await;
        assert_eq!(text(&reply), "the client did not answer `sure` in time (limit 600 s)");
        assert_eq!(reply["result"]["isError"], true);
        client.still_answers().await;
    }
}

#[tokio::test]
async fn questions_of_one_wave_are_all_out_before_any_is_answered() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "ask_both", json!({})).await;
        let mut questions = [client.next("call").await, client.next("call").await];
        questions.sort_by_key(|question| question["params"]["message"].to_string());
        let [milk, tea] = questions;
        assert_eq!((&milk["params"]["message"], &tea["params"]["message"]), (&json!("milk?"), &json!("tea?")));
        client.answer(&milk, false).await;
        client.answer(&tea, true).await;
        assert_eq!(text(&client.next("call").await), "true false");
    }
}

#[tokio::test]
async fn the_error_says_why_an_answer_does_not_fit() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "ask", json!({})).await;
        for asked in 1..=3 {
            let question = client.next("call").await;
            let message = question["params"]["message"].as_str().expect("a message").to_owned();
            match asked {
                1 => assert_eq!(message, "really?"),
                _ => assert!(message.starts_with("really?\n\n") && message.contains("yes"), "{message}"),
            }
            let result = json!({ "action": "accept", "content": { "yes": "perhaps" } });
            client.send(json!({ "id": question["id"], "result": result })).await;
        }
        let received = client.next("call").await;
        assert!(
            text(&received).starts_with("the client sent no usable answer to `sure`: ")
                && text(&received).contains("yes"),
            "{received}"
        );
    }
}

#[tokio::test]
async fn a_form_is_sent_with_every_rule_it_has() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "fill", json!({})).await;
        let question = client.next("call").await;
        assert_eq!(question["method"], "elicitation/create");
        let rules = json!({ "type": "string", "pattern": "^[A-Z]{3}$" });
        assert_eq!(question["params"]["requestedSchema"]["properties"]["code"], rules);
        assert_eq!(question["params"]["_meta"]["rejoinder/key"], "code");
        client
            .send(json!({ "id": question["id"], "result": { "action": "accept", "content": { "code": "ABC" } } }))
            .await;
        assert_eq!(text(&client.next("call").await), "\"ABC\"");
    }
}

#[tokio::test]
async fn each_visit_has_a_name_of_its_own() {
    for mut client in Client::each(&fixture(), json!({ "elicitation": { "url": {} } })).await {
        client.call("call", "visit", json!({})).await;
        let mut names = Vec::new();
        for _ in 0..2 {
            let question = client.next("call").await;
            names.push(question["params"]["elicitationId"].as_str().expect("a name").to_owned());
            client.send(json!({ "id": question["id"], "result": { "action": "accept" } })).await;
        }
        assert_ne!(names[0], names[1]);
        assert_eq!(text(&client.next("call").await), "paid");
    }
}

#[tokio::test]
async fn an_error_for_an_answer_is_not_the_error_of_the_call() {
    let everything = json!({ "elicitation": {}, "roots": {} });
    for (tool, code, message, expected) in [
        ("ask", -1, "User rejected", "the user declined `sure`"),
        ("folders", -1, "User rejected", "the user declined `folders`"),
        ("ask", -32601, "Method not found", "the client did not answer `sure`: Method not found (-32601)"),
        ("ask", -32001, "no screen", "the client did not answer `sure`: no screen (-32001)"),
    ] {
        for mut client in Client::each(&fixture(), everything.clone()).await {
            client.call("call", tool, json!({})).await;
            let question = client.next("call").await;
            client.send(json!({ "id": question["id"], "error": { "code": code, "message": message } })).await;
            let reply = client.next("call").await;
            assert_eq!((text(&reply), &reply["result"]["isError"]), (expected, &json!(true)), "{tool} {code}");
            client.still_answers().await;
        }
    }
}

#[tokio::test]
async fn a_m10_a_request_id_is_used_once_at_a_time() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "ask", json!({ "what": "tea" })).await;
        let question = client.next("call").await;
        client.call("call", "ask", json!({ "what": "milk" })).await;
        let refused = client.next("call").await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("call"), &json!(-32600)), "{refused}");
        client.answer(&question, true).await;
        if let Client::Pipe(pipe) = &mut client {
            assert_eq!(text(&pipe.next().await), "tea: true", "the first one goes on");
        }
        client.still_answers().await;
    }
}

#[tokio::test]
async fn the_fallback_is_for_a_client_that_cannot_answer_too() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "choose_several", json!({ "fallback": true })).await;
        let question = client.next("call").await;
        client.send(json!({ "id": question["id"], "error": { "code": -32601, "message": "Method not found" } })).await;
        assert_eq!(text(&client.next("call").await), "any");
        client.call("call", "choose_several", json!({ "fallback": true })).await;
        let question = client.next("call").await;
        client.send(json!({ "id": question["id"], "error": { "code": -1, "message": "User rejected" } })).await;
        assert_eq!(text(&client.next("call").await), "the user declined `several`", "a decline is an answer");
    }
}

#[tokio::test]
async fn r3_l2_an_answer_that_is_too_large_is_asked_for_again() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "deliver", json!({})).await;
        for _ in 0..3 {
            let question = client.next("call").await;
            assert_eq!(question["method"], "elicitation/create", "{question}");
            let content = json!({ "text": "x".repeat(64 * 1024) });
            client.send(json!({ "id": question["id"], "result": { "action": "accept", "content": content } })).await;
        }
        let reply = client.next("call").await;
        assert_eq!(
            text(&reply),
            "the client sent no usable answer to `amount`: The answer is too long: it has 65577 bytes as JSON, and at most \
             32768 fit."
        );
        client.still_answers().await;
    }
}

#[tokio::test]
async fn r3_m2_a_fallback_that_a_step_used_stays_in_the_next_round_by_hand() {
    for mut client in Client::each(&fixture(), can_be_asked()).await {
        client.call("call", "deliver", json!({})).await;
        let question = client.next("call").await;
        client.send(json!({ "id": question["id"], "error": { "code": -32001, "message": "no screen" } })).await;
        let reply = client.next("call").await;
        assert_eq!(text(&reply), "1 delivered, 1 charged", "it is not asked again");
    }
}

#[tokio::test]
async fn the_model_reads_why_the_client_cannot_be_asked() {
    for mut client in Client::each(&fixture(), json!({ "sampling": {} })).await {
        client.call("call", "ask", json!({})).await;
        let reply = client.next("call").await;
        assert_eq!(text(&reply), "the client did not declare `elicitation.form`, which this call needs");
        assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!("call"), &json!(true)), "{reply}");
        client.still_answers().await;
    }
}

#[tokio::test]
async fn a_call_that_is_taken_back_leaves_no_question() {
    let fixture = fixture();
    for mut client in Client::each(&fixture, can_be_asked()).await {
        client.call("call", "ask", json!({})).await;
        let question = client.next("call").await;
        client.send(json!({ "method": "notifications/cancelled", "params": { "requestId": "call" } })).await;
        until("the function was dropped", || fixture.seen.running.load(Ordering::SeqCst) == 0).await;
        let received = client.received().await;
        assert_eq!(received["method"], "notifications/cancelled");
        assert_eq!(received["params"]["requestId"], question["id"], "the user need not be asked any more");
        // The answer was on its way.
        client.answer(&question, true).await;
        client.still_answers().await;
    }
}

#[tokio::test]
async fn a_call_that_is_taken_back_is_torn_down_as_cancelled() {
    let fixture = fixture();
    for mut client in Client::each(&fixture, json!({})).await {
        let params = json!({ "name": "hold", "arguments": {}, "_meta": { "progressToken": 1 } });
        client.call_with("call", params).await;
        assert_eq!(client.next("call").await["method"], "notifications/progress");
        client.send(json!({ "method": "notifications/cancelled", "params": { "requestId": "call" } })).await;
        until("what it deferred has run", || !fixture.seen.endings.lock().expect("no panic").is_empty()).await;
        assert_eq!(std::mem::take(&mut *fixture.seen.endings.lock().expect("no panic")), [CallEnd::Cancelled]);
        client.still_answers().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_drops_who_asks() {
    let fixture = fixture();
    for mut client in Client::each(&fixture, can_be_asked()).await {
        client.call("call", "ask", json!({})).await;
        client.next("call").await;
        assert_eq!(fixture.seen.running.load(Ordering::SeqCst), 1);
        match client {
            Client::Pipe(pipe) => drop(pipe),
            Client::Http(http, _) => assert_eq!(http.send("DELETE", &[], Value::Null).await.status(), 204),
        }
        // On a pipe, calls have the grace period to end by themselves.
        tokio::time::sleep(Duration::from_secs(11)).await;
        assert_eq!(fixture.seen.running.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn a_client_whose_connection_broke_is_asked_again() {
    let mut client = Http::new(&fixture());
    client.initialize_with("2025-11-25", can_be_asked()).await;
    let mut events = Events::of(client.call("ask", json!({})).await);
    let first = events.next().await.expect("an event").id.expect("an id");
    drop(events);
    let mut events = Events::of(client.send("GET", &[("last-event-id", &first)], Value::Null).await);
    let question = loop {
        if let Some(question) = events.next().await.expect("a question").data {
            break question;
        }
    };
    assert_eq!(question["params"]["message"], "really?");
    let result = json!({ "action": "accept", "content": { "yes": true } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(client.post(answer).await.status(), 202);
    assert_eq!(text(&events.last().await), "really: true");
}
