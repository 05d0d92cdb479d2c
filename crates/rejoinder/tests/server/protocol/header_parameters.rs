//! `#[header]`: parameters that are headers of the request.

use rejoinder::{
    model::Reference,
    prelude::*,
    testing::{Client, in_both_eras},
};
use serde_json::json;

use crate::{
    logged::Logged,
    protocol::wire::{Pipe, message, post, send},
};

const SECRET: &str = "hunter2";

#[derive(Debug)]
struct Token(String);

impl std::str::FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.strip_prefix("token-").map(|token| Self(token.to_owned())).ok_or_else(|| format!("{text} is not a token"))
    }
}

/// Every kind of header.
#[tool]
fn all(
    #[header] x_user_id: String,
    #[header("X-Retries", default = 3)] retries: u32,
    #[header("x-region", default = "eu")] region: String,
    #[header(default)] x_depth: u8,
    #[header] x_trace: Option<u64>,
    #[header("x-tag")] tags: Vec<String>,
) -> String {
    format!("{x_user_id} {retries} {region} {x_depth} {x_trace:?} {tags:?}")
}

#[prompt]
fn greeting(#[header] x_user_id: String, word: String) -> String {
    format!("{word} {x_user_id}")
}

#[resource("me://{part}")]
fn me(part: String, #[header] x_user_id: String) -> String {
    format!("{part} of {x_user_id}")
}

/// Asks after the header was read.
#[resolver]
fn name(#[header] x_user_id: u32) -> Ask<String> {
    Ask::text(format!("What is the name of user {x_user_id}?"))
}

#[tool]
fn rename(#[resolve(name)] name: &str, #[header] x_token: Token) -> String {
    format!("{name} {}", x_token.0)
}

/// Something else of the same name: the two do not meet.
#[tool]
fn both(#[arg(name = "x_user_id")] argument: String, #[header] x_user_id: String) -> String {
    format!("{argument} {x_user_id}")
}

fn server() -> Server {
    let server = Server::new("headers", "1.0.0").tools(tools![all, rename, both]);
    server.prompts(prompts![greeting]).resources(resources![me])
}

fn client() -> Client {
    Client::new(server())
}

#[tokio::test]
async fn headers_are_read_into_their_types() {
    for (headers, expected) in [
        (&[("x-user-id", "ada")][..], "ada 3 eu 0 None []"),
        (&[("x-user-id", "ada"), ("x-retries", "5"), ("x-region", "us"), ("x-depth", "2")], "ada 5 us 2 None []"),
        (&[("x-user-id", "ada"), ("x-trace", "7"), ("x-tag", "a, b,,c")], r#"ada 3 eu 0 Some(7) ["a", "b", "c"]"#),
    ] {
        let client = headers.iter().fold(client(), |client, (name, value)| client.header(name, value));
        in_both_eras(client, async |client| {
            assert_eq!(client.call_tool("all", json!({})).await.unwrap().text(), expected);
        })
        .await;
    }
}

#[tokio::test]
async fn l9_prompts_and_resources_take_headers() {
    in_both_eras(client().header("x-user-id", "ada"), async |client| {
        let prompt = client.get_prompt("greeting", json!({ "word": "Hello" })).await.unwrap();
        assert_eq!(prompt.text(), "Hello ada");
        assert_eq!(client.read_resource("me://all").await.unwrap().text(), "all of ada");
        let arguments = client.list_prompts().await.unwrap().remove(0).arguments.unwrap();
        assert_eq!(arguments.iter().map(|argument| &*argument.name).collect::<Vec<_>>(), ["word"]);
        let completed = client.complete(Reference::prompt("greeting"), "x_user_id", "a").await;
        assert_eq!(completed.unwrap_err().code(), Some(-32602), "it is not an argument");
    })
    .await;
}

#[tokio::test]
async fn l7_a_missing_header_is_an_error_that_names_it() {
    in_both_eras(client(), async |client| {
        let missing = "the header `x-user-id` is required and was not sent";
        let reply = client.call_tool("all", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), missing);
        let prompt = client.get_prompt("greeting", json!({ "word": "Hello" })).await.unwrap_err();
        assert_eq!((prompt.code(), prompt.to_string().contains(missing)), (Some(-32602), true), "{prompt}");
        let resource = client.read_resource("me://all").await.unwrap_err();
        assert_eq!((resource.code(), resource.to_string().contains(missing)), (Some(-32603), true), "{resource}");
    })
    .await;
}

#[tokio::test]
async fn l7_a_header_that_cannot_be_read_is_an_error_that_never_shows_its_value() {
    let (logged, _guard) = Logged::here();
    for (tool, header, value, problem) in [
        ("all", "X-Retries", SECRET, "has a value that cannot be read"),
        ("all", "X-Retries", "", "has a value that cannot be read"),
        ("all", "x-depth", "256", "has a value that cannot be read"),
        ("all", "x-trace", SECRET, "has a value that cannot be read"),
        // Its own error repeats the value.
        ("rename", "x-token", SECRET, "has a value that cannot be read"),
    ] {
        let client = client().header("x-user-id", "7").header(header, value);
        in_both_eras(client, async |client| {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert!(reply.is_error());
            assert_eq!(reply.text(), format!("the header `{header}` {problem}"));
            assert!(reply.asked.is_empty(), "headers are read before anybody is asked");
        })
        .await;
    }
    assert!(!logged.text().contains(SECRET), "{}", logged.text());
}

#[tokio::test]
async fn a_header_that_is_sent_twice_is_a_guess_unless_it_is_a_list() {
    let sent_twice = async |name: &'static str| {
        let mut request = post("tools/call", json!({ "name": "all" })).header("x-user-id", "ada").request();
        for value in ["1, 2", "3"] {
            request.headers_mut().append(name, http::HeaderValue::from_static(value));
        }
        let answer = send(request, &mut server().build().unwrap().into_service()).await;
        answer.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(sent_twice("x-tag").await, r#"ada 3 eu 0 None ["1", "2", "3"]"#);
    assert_eq!(sent_twice("x-trace").await, "the header `x-trace` was sent more than once");
}

#[tokio::test]
async fn bytes_that_are_not_text_are_not_a_value() {
    let mut request = post("tools/call", json!({ "name": "all" })).request();
    request.headers_mut().insert("x-user-id", http::HeaderValue::from_bytes(b"caf\xe9").unwrap());
    let answer = send(request, &mut server().build().unwrap().into_service()).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "the header `x-user-id` is not plain ASCII text");
}

#[tokio::test]
async fn l1_what_the_model_sends_under_the_name_of_a_header_is_an_unknown_argument() {
    in_both_eras(client().header("x-user-id", "ada"), async |client| {
        let tools = client.list_tools().await.unwrap();
        let properties = |name: &str| {
            let tool = tools.iter().find(|tool| tool.name == name).unwrap();
            tool.input_schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert!(properties("all").is_empty());
        assert_eq!(properties("both"), ["x_user_id"]);
        let reply = client.call_tool("all", json!({ "x_user_id": "eve" })).await.unwrap();
        let refused = "Invalid argument `x_user_id`: unknown argument; no arguments are accepted.";
        assert!(reply.is_error());
        assert_eq!(reply.text(), refused);
        assert_eq!(client.call_tool("both", json!({ "x_user_id": "eve" })).await.unwrap().text(), "eve ada");
    })
    .await;
}

#[tokio::test]
async fn a_resolver_takes_headers_and_each_request_has_its_own() {
    use rejoinder::form::TextForm;
    let client = client().answer("name", TextForm { text: "Ada".to_owned() });
    in_both_eras(client, async |client| {
        for (user, token) in [("1", "a"), ("2", "b")] {
            let client = client.clone().header("x-user-id", user).header("x-token", &format!("token-{token}"));
            let reply = client.call_tool("rename", json!({})).await.unwrap();
            assert_eq!(reply.text(), format!("Ada {token}"));
            assert_eq!(reply.asked, [["name"]]);
        }
    })
    .await;
}

#[tokio::test]
async fn stdio_has_no_headers() {
    let mut pipe = Pipe::open(&server().build().unwrap());
    pipe.send(message(1, "tools/call", json!({ "name": "all" }))).await;
    let text = &pipe.next().await["result"]["content"][0]["text"];
    assert_eq!(text, "the header `x-user-id` is required, but stdio has no headers: connect over HTTP");
}

#[tokio::test]
async fn on_stdio_a_header_is_its_default() {
    #[tool]
    fn region(#[header(default = "eu")] x_region: String, #[header] x_zone: Option<u8>) -> String {
        format!("{x_region} {x_zone:?}")
    }
    let mut pipe = Pipe::open(&Server::new("regions", "1").tools(tools![region]).build().unwrap());
    pipe.send(message(1, "tools/call", json!({ "name": "region" }))).await;
    assert_eq!(pipe.next().await["result"]["content"][0]["text"], "eu None");
}
