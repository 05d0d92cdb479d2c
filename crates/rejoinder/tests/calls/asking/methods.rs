//! `tools/call`, `prompts/get` and `resources/read` ask in the same way.

use rejoinder::state::{MemoryReplayStore, StatePolicy};
use serde_json::Value;

use super::*;

#[resolver]
fn reader(subject: &str) -> Ask<Name> {
    Ask::user(format!("Who wants {subject}?"))
}

#[tool]
fn tell(subject: String, #[resolve(reader)] reader: &Name) -> String {
    format!("{subject} for {}", reader.name)
}

#[prompt]
fn write(subject: String, #[resolve(reader)] reader: &Name) -> String {
    format!("{subject} for {}", reader.name)
}

#[resource("about://{subject}")]
fn about(subject: String, #[resolve(reader)] reader: &Name) -> String {
    format!("{subject} for {}", reader.name)
}

/// A second item of each kind, which asks the same question.
mod other {
    use super::*;

    #[tool(name = "tell_more")]
    pub(super) fn tell(subject: String, #[resolve(reader)] reader: &Name) -> String {
        format!("{subject} for {}", reader.name)
    }

    #[prompt(name = "write_more")]
    pub(super) fn write(subject: String, #[resolve(reader)] reader: &Name) -> String {
        format!("{subject} for {}", reader.name)
    }

    #[resource("more://{subject}")]
    pub(super) fn about(subject: String, #[resolve(reader)] reader: &Name) -> String {
        format!("{subject} for {}", reader.name)
    }
}

fn library() -> Server {
    Server::new("library", "1.0.0")
        .tools(tools![tell, other::tell])
        .prompts(prompts![write, other::write])
        .resources(resources![about, other::about])
}

/// One of the three methods, with its parameters.
struct Case {
    method: &'static str,
    params: Value,
    /// The same function with other arguments, and another function with the same ones.
    others: [Value; 2],
    /// The place of the text in the result.
    text: &'static str,
}

fn cases() -> [Case; 3] {
    let named = |name: &str, subject: &str| json!({ "name": name, "arguments": { "subject": subject } });
    [
        Case {
            method: "tools/call",
            params: named("tell", "tea"),
            others: [named("tell", "gold"), named("tell_more", "tea")],
            text: "/content/0/text",
        },
        Case {
            method: "prompts/get",
            params: named("write", "tea"),
            others: [named("write", "gold"), named("write_more", "tea")],
            text: "/messages/0/content/text",
        },
        Case {
            method: "resources/read",
            params: json!({ "uri": "about://tea" }),
            others: [json!({ "uri": "about://gold" }), json!({ "uri": "more://tea" })],
            text: "/contents/0/text",
        },
    ]
}

type Refusal = (i32, String, Option<Value>);

impl Case {
    /// One round.
    async fn round(&self, client: &Client, params: &Value, rest: Value) -> Result<Value, Refusal> {
        let mut params = params.clone();
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        client.request(self.method, params).await.map_err(|error| {
            let error = error.rpc().expect("a JSON-RPC error").clone();
            (error.code, error.message, error.data)
        })
    }

    /// The question of the first round, and the request that answers it.
    async fn asked(&self, client: &Client, answer: Value) -> (String, Value) {
        let first = self.round(client, &self.params, json!({})).await.unwrap();
        assert_eq!(first["resultType"], "input_required", "{}", self.method);
        (question(&first), retry(&first, answer))
    }
}

fn question(result: &Value) -> String {
    result["inputRequests"]["reader"]["params"]["message"].as_str().expect("a question").to_owned()
}

fn retry(result: &Value, answer: Value) -> Value {
    json!({ "requestState": result["requestState"], "inputResponses": { "reader": answer } })
}

fn named(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

fn client(server: Server) -> Client {
    Client::new(server).capabilities(serde_json::from_value(json!({ "elicitation": {} })).unwrap())
}

fn refused<T>() -> Result<T, Refusal> {
    let sentence = "`requestState` is not valid for this request; make the request again without it".to_owned();
    Err((-32602, sentence, Some(json!({ "reason": "invalid_request_state" }))))
}

#[tokio::test]
async fn c22_an_answer_ends_the_call() {
    let client = client(library());
    for case in cases() {
        let (question, rest) = case.asked(&client, named("Ada")).await;
        assert_eq!(question, "Who wants tea?");
        let done = case.round(&client, &case.params, rest).await.unwrap();
        assert_eq!(done["resultType"], "complete", "{}", case.method);
        assert_eq!(done.pointer(case.text), Some(&json!("tea for Ada")), "{}", case.method);
    }
}

#[tokio::test]
async fn c37_a_decline_or_cancel_ends_the_call() {
    let client = client(library());
    for case in cases() {
        for (action, reason) in [("decline", "declined"), ("cancel", "cancelled")] {
            let expected = format!("the user {reason} `reader`");
            let (_, rest) = case.asked(&client, json!({ "action": action })).await;
            match case.round(&client, &case.params, rest).await {
                // Only a tool result has `isError`.
                Ok(result) => {
                    assert_eq!(case.method, "tools/call");
                    assert_eq!((&result["isError"], result.pointer(case.text)), (&json!(true), Some(&json!(expected))));
                }
                Err(error) => {
                    assert_ne!(case.method, "tools/call");
                    assert_eq!(error, (-32602, expected, Some(json!({ "reason": reason }))));
                }
            }
        }
    }
}

#[tokio::test]
async fn c34_d10_a_question_is_asked_three_times_with_the_reason_if_answers_do_not_fit() {
    let client = client(library());
    for case in cases() {
        let (_, mut rest) = case.asked(&client, named("")).await;
        for _ in 0..2 {
            let again = case.round(&client, &case.params, rest).await.unwrap();
            assert!(question(&again).starts_with("Who wants tea?\n\n`name`"), "{}", question(&again));
            rest = retry(&again, named(""));
        }
        let end = match case.round(&client, &case.params, rest.clone()).await {
            Ok(result) => result.pointer(case.text).unwrap().as_str().unwrap().to_owned(),
            Err((code, message, _)) => {
                assert_eq!(code, if case.method == "resources/read" { -32603 } else { -32602 });
                message
            }
        };
        assert!(end.starts_with("the client sent no usable answer to `reader`: "), "{}: {end}", case.method);
        // A good answer at the third try is accepted.
        rest["inputResponses"]["reader"] = named("Ada");
        let done = case.round(&client, &case.params, rest).await.unwrap();
        assert_eq!(done.pointer(case.text), Some(&json!("tea for Ada")), "{}", case.method);
    }
}

#[tokio::test]
async fn c27_c28_a_state_is_refused_with_other_arguments_another_function_or_another_method() {
    let client = client(library());
    for case in cases() {
        let (_, rest) = case.asked(&client, named("Ada")).await;
        for other in &case.others {
            assert_eq!(case.round(&client, other, rest.clone()).await, refused(), "{other}");
        }
        for method in cases().iter().filter(|other| other.method != case.method) {
            assert_eq!(method.round(&client, &method.params, rest.clone()).await, refused(), "{}", method.method);
        }
        assert!(case.round(&client, &case.params, rest).await.is_ok(), "it is still good for its own");
    }
}

#[tokio::test]
async fn c29_a_single_use_state_is_refused_the_second_time() {
    let client = client(library().state(StatePolicy::new().single_use(MemoryReplayStore::default())));
    for case in cases() {
        let (_, rest) = case.asked(&client, named("Ada")).await;
        assert!(case.round(&client, &case.params, rest.clone()).await.is_ok(), "{}", case.method);
        assert_eq!(case.round(&client, &case.params, rest).await, refused(), "{}", case.method);
    }
}
