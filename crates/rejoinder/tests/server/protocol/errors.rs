//! How a function says that it cannot, and what the client gets to see of it.

use rejoinder::{call::Era, prelude::*, testing::Client};
use serde_json::json;

use crate::protocol::{
    fixture,
    wire::{Pipe, message},
};

#[derive(Debug, thiserror::Error)]
#[error("password for db.internal refused")]
struct DatabaseError;

/// Fails in the way that is asked for.
fn fail(how: &str) -> Result<String, CallError> {
    match how {
        "visible" => Err(CallError::new("give a number below 10")),
        "missing" => Err(CallError::not_found("there is no such thing")),
        "protocol" => Err(CallError::protocol(1234, "not today", Some(json!({ "until": "tomorrow" })))),
        "unknown" => Err(CallError::protocol(-32601, "this customer is unknown", None)),
        "text" => Err("give a number below 10".into()),
        "formatted" => Err(format!("give a number below {}", 10))?,
        "borrowed" => Err(&*format!("give a number below {}", 10))?,
        "nothing" => None.ok_or("give a number below 10")?,
        "hidden" => Err(DatabaseError)?,
        "hidden text" => Err(CallError::internal("password for db.internal refused")),
        "panic" => panic!("password in a panic"),
        _ => Ok("fine".to_owned()),
    }
}

#[tool]
async fn tool_fails(how: String) -> Result<String, CallError> {
    fail(&how)
}

#[prompt]
async fn prompt_fails(how: String) -> Result<String, CallError> {
    fail(&how)
}

#[resource("fails://{how}")]
async fn resource_fails(how: String) -> Result<String, CallError> {
    fail(&how)
}

#[resolver]
fn consent() -> Ask<bool> {
    Ask::confirm("May I show it?")
}

#[resource("asks://first")]
async fn resource_asks(#[resolve(consent)] consent: bool) -> String {
    consent.to_string()
}

#[tool]
async fn text_fails() -> Result<String, String> {
    Err("give a number below 10".to_owned())
}

#[pipe]
fn below_ten(number: u8) -> Result<u8, FieldError> {
    if number < 10 { Ok(number) } else { Err("give a number below 10".into()) }
}

#[tool]
async fn piped(#[pipe(below_ten)] number: u8) -> u8 {
    number
}

fn client() -> Client {
    let server = Server::new("failures", "1").tools(tools![tool_fails, text_fails, piped]);
    Client::new(server.prompts(prompts![prompt_fails]).resources(resources![resource_fails, resource_asks]))
}

/// The id in a text: sixteen hexadecimal digits.
fn has_id(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_hexdigit()).any(|word| word.len() == 16)
}

#[tokio::test]
async fn an_error_text_for_the_model_reaches_it() {
    let reply = client().call_tool("tool_fails", json!({ "how": "visible" })).await.unwrap();
    assert!(reply.is_error());
    assert_eq!(reply.text(), "give a number below 10");
}

/// A text is written for a reader; every other error may say what is not for clients.
#[tokio::test]
async fn a_text_that_becomes_an_error_reaches_the_model() {
    for how in ["text", "formatted", "borrowed", "nothing"] {
        let reply = client().call_tool("tool_fails", json!({ "how": how })).await.unwrap();
        assert_eq!((reply.is_error(), reply.text().as_str()), (true, "give a number below 10"), "{how}");
    }
    let reply = client().call_tool("text_fails", json!({})).await.unwrap();
    assert_eq!((reply.is_error(), reply.text().as_str()), (true, "give a number below 10"));
    let reply = client().call_tool("piped", json!({ "number": 11 })).await.unwrap();
    assert_eq!(reply.text(), "Invalid argument `number`: give a number below 10.");
    let reply = client().call_tool("tool_fails", json!({ "how": "hidden text" })).await.unwrap();
    assert!(!reply.text().contains("password"), "{}", reply.text());
}

#[tokio::test]
async fn o13_a_tool_hides_the_detail_of_other_errors_behind_an_id() {
    let reply = client().call_tool("tool_fails", json!({ "how": "hidden" })).await.unwrap();
    assert!(reply.is_error());
    assert!(has_id(&reply.text()), "{}", reply.text());
    assert!(!reply.text().contains("password") && !reply.text().contains("db.internal"));
}

#[tokio::test]
async fn each_failure_has_its_own_id() {
    let client = client();
    let one = client.call_tool("tool_fails", json!({ "how": "hidden" })).await.unwrap().text();
    let other = client.call_tool("tool_fails", json!({ "how": "hidden" })).await.unwrap().text();
    assert_ne!(one, other);
}

#[tokio::test]
async fn a_protocol_error_is_sent_unchanged() {
    let client = client();
    for error in [
        client.call_tool("tool_fails", json!({ "how": "protocol" })).await.unwrap_err(),
        client.get_prompt("prompt_fails", json!({ "how": "protocol" })).await.unwrap_err(),
        client.read_resource("fails://protocol").await.unwrap_err(),
    ] {
        let error = error.rpc().unwrap().clone();
        assert_eq!((error.code, error.message.as_str()), (1234, "not today"));
        assert_eq!(error.data, Some(json!({ "until": "tomorrow" })));
    }
}

#[tokio::test]
async fn prompts_and_resources_fail_with_protocol_errors() {
    let client = client();
    let prompt = client.get_prompt("prompt_fails", json!({ "how": "visible" })).await.unwrap_err();
    assert_eq!((prompt.code(), prompt.rpc().unwrap().message.as_str()), (Some(-32602), "give a number below 10"));
    let resource = client.read_resource("fails://visible").await.unwrap_err();
    assert_eq!((resource.code(), resource.rpc().unwrap().message.as_str()), (Some(-32603), "give a number below 10"));
    assert_eq!(resource.rpc().unwrap().data, None, "only a resource that does not exist is named in the data");
    for hidden in [
        client.get_prompt("prompt_fails", json!({ "how": "hidden" })).await.unwrap_err(),
        client.read_resource("fails://hidden").await.unwrap_err(),
    ] {
        assert_eq!(hidden.code(), Some(-32603));
        assert!(has_id(&hidden.to_string()) && !hidden.to_string().contains("password"), "{hidden}");
    }
}

#[tokio::test]
async fn o12_a_resource_is_not_found_only_if_it_does_not_exist() {
    for (era, not_found) in [(Era::Stateless, -32602), (Era::Session, -32002)] {
        let client = client().era(era).answer_with("consent", json!({ "action": "decline" }));
        for (uri, code, data) in [
            ("fails://visible", -32603, None),
            ("fails://hidden", -32603, None),
            ("asks://first", -32602, Some(json!({ "reason": "declined" }))),
            ("fails://missing", not_found, Some(json!({ "uri": "fails://missing" }))),
            ("nowhere://at/all", not_found, Some(json!({ "uri": "nowhere://at/all" }))),
        ] {
            let error = client.read_resource(uri).await.unwrap_err().rpc().unwrap().clone();
            let data_of_error = error.data.filter(|data| data.get("id").is_none());
            assert_eq!((error.code, data_of_error), (code, data), "{uri} in {era:?}");
        }
    }
}

#[tokio::test]
async fn r_l7_an_error_of_a_function_does_not_choose_the_status() {
    let client = client();
    for (error, code) in [
        (client.call_tool("tool_fails", json!({ "how": "unknown" })).await, -32601),
        (client.call_tool("tool_fails", json!({ "how": "protocol" })).await, 1234),
    ] {
        let error = error.unwrap_err().rpc().unwrap().clone();
        assert_eq!((error.status.as_u16(), error.code), (200, code));
    }
    let prompt = client.get_prompt("prompt_fails", json!({ "how": "visible" })).await.unwrap_err();
    assert_eq!(prompt.rpc().unwrap().status, 200);
    let unknown = client.call_tool("nobody_has_it", json!({})).await.unwrap_err();
    assert_eq!(unknown.rpc().unwrap().status, 400, "the dispatcher does");
}

#[tokio::test]
async fn on_a_session_the_model_reads_that_a_tool_panicked() {
    let reply = client().era(Era::Session).call_tool("tool_fails", json!({ "how": "panic" })).await.unwrap();
    assert!(reply.is_error() && has_id(&reply.text()) && !reply.text().contains("password"), "{}", reply.text());
}

#[tokio::test]
async fn a_panic_is_an_internal_error_with_an_id_and_the_server_continues() {
    let client = client();
    for error in [
        client.call_tool("tool_fails", json!({ "how": "panic" })).await.unwrap_err(),
        client.get_prompt("prompt_fails", json!({ "how": "panic" })).await.unwrap_err(),
        client.read_resource("fails://panic").await.unwrap_err(),
    ] {
        assert_eq!(error.code(), Some(-32603));
        assert!(has_id(&error.to_string()) && !error.to_string().contains("password"), "{error}");
    }
    assert_eq!(client.call_tool("tool_fails", json!({ "how": "not" })).await.unwrap().text(), "fine");
}

#[tokio::test]
async fn a_panic_does_not_end_a_pipe() {
    let mut pipe = Pipe::open(&fixture::built());
    pipe.send(message(1, "tools/call", json!({ "name": "panics" }))).await;
    assert_eq!(pipe.next().await["error"]["code"], -32603);
    pipe.send(message(2, "tools/list", json!({}))).await;
    assert_eq!(pipe.next().await["id"], 2);
}

#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("there is no order {0}; list the orders first")]
    Unknown(u32),
    #[error("secret")]
    Database,
}

impl rejoinder::reply::IntoCallError for OrderError {
    fn into_call_error(self) -> CallError {
        match self {
            Self::Unknown(_) => CallError::new(self.to_string()),
            Self::Database => CallError::internal(self),
        }
    }
}

/// Cancel an order.
#[tool]
fn cancel_order(order: u32) -> Result<String, OrderError> {
    Err(if order == 0 { OrderError::Database } else { OrderError::Unknown(order) })
}

/// Fails with an error that is not a `std::error::Error`.
#[tool]
fn any_error() -> Result<String, CallError> {
    fn fails() -> Result<String, anyhow::Error> {
        anyhow::bail!("secret")
    }
    Ok(fails()?)
}

#[tokio::test]
async fn an_error_of_the_authors_own_says_what_the_model_sees() {
    for era in [Era::Stateless, Era::Session] {
        let client = Client::new(Server::new("shop", "1.0.0").tools(tools![cancel_order, any_error])).era(era);
        let reply = client.call_tool("cancel_order", json!({ "order": 7 })).await.unwrap();
        assert_eq!(reply.text(), "there is no order 7; list the orders first");
        for (tool, arguments) in [("cancel_order", json!({ "order": 0 })), ("any_error", json!({}))] {
            let reply = client.call_tool(tool, arguments).await.unwrap();
            assert!(reply.is_error() && !reply.text().contains("secret"), "{tool}: {}", reply.text());
        }
    }
}
