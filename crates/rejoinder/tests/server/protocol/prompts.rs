//! Prompts: their arguments are texts, whatever the parameters are.

use rejoinder::{
    model::{ContentBlock, PromptMessage, Role},
    prelude::*,
    testing::Client,
};
use serde_json::{Value, json};

use crate::protocol::wire::{message, post};

/// Plan a trip.
#[prompt(title = "Trip")]
async fn trip(
    /// Where to
    place: String,
    /// For how long
    days: u8,
    #[arg(default = false)] cheap: bool,
    who: Option<String>,
) -> String {
    format!("{days} days in {place}, cheap: {cheap}, {who:?}")
}

#[prompt]
async fn talk() -> [PromptMessage; 2] {
    [
        PromptMessage::new(Role::User, ContentBlock::text("Who are you?")),
        PromptMessage::new(Role::Assistant, ContentBlock::text("A prompt.")),
    ]
}

fn client() -> Client {
    Client::new(Server::new("prompts", "1").prompts(prompts![trip, talk]))
}

#[tokio::test]
async fn strings_are_read_into_the_types_of_the_parameters() {
    let reply = client().get_prompt("trip", json!({ "place": "7", "days": "3", "cheap": "true" })).await.unwrap();
    assert_eq!(reply.text(), "3 days in 7, cheap: true, None");
    let messages = client().get_prompt("talk", Value::Null).await.unwrap().result.messages;
    assert_eq!(messages[1].role, Role::Assistant);
}

#[tokio::test]
async fn the_list_shows_the_arguments() {
    let list = client().request("prompts/list", json!({})).await.unwrap();
    insta::assert_json_snapshot!(list["prompts"], @r#"
    [
      {
        "name": "trip",
        "title": "Trip",
        "description": "Plan a trip.",
        "arguments": [
          {
            "name": "place",
            "description": "Where to",
            "required": true
          },
          {
            "name": "days",
            "description": "For how long",
            "required": true
          },
          {
            "name": "cheap",
            "required": false
          },
          {
            "name": "who",
            "required": false
          }
        ]
      },
      {
        "name": "talk"
      }
    ]
    "#);
}

#[tokio::test]
async fn all_bad_arguments_of_a_prompt_are_reported_at_once() {
    let error =
        client().get_prompt("trip", json!({ "days": "many", "cheap": "perhaps", "weather": "" })).await.unwrap_err();
    assert_eq!(error.code(), Some(-32602));
    insta::assert_snapshot!(error.rpc().unwrap().message, @r#"
    Invalid arguments:
    - `weather`: unknown argument; the arguments are `place`, `days`, `cheap`, `who`
    - `place`: it is required and was not sent
    - `days`: expected an integer, got the string "many"
    - `cheap`: expected a boolean, got the string "perhaps"
    "#);
}

#[tokio::test]
async fn unknown_prompts_and_arguments_that_are_not_strings_are_refused() {
    let client = client();
    assert_eq!(client.get_prompt("none", json!({})).await.unwrap_err().code(), Some(-32602));
    for arguments in [json!({ "place": 7 }), json!([]), json!("Rome"), json!({ "place": null })] {
        assert_eq!(client.get_prompt("trip", arguments.clone()).await.unwrap_err().code(), Some(-32602), "{arguments}");
    }
}

#[tokio::test]
async fn an_argument_that_is_sent_twice_is_refused() {
    let body = message(1, "prompts/get", json!({ "name": "greet", "arguments": "ARGUMENTS" })).to_string();
    let unknown = "unknown argument; the arguments are `name`";
    for (arguments, field, message) in [
        (r#"{"name":"Ada","name":"Bob"}"#, "name", "it was sent twice"),
        (r#"{"name":"Ada","x":"1","x":"2"}"#, "x", unknown),
    ] {
        let body = body.replace("\"ARGUMENTS\"", arguments);
        let answer =
            post("prompts/get", json!({ "name": "greet" })).body(body).send(&crate::protocol::fixture::built()).await;
        assert_eq!((answer.status, answer.code()), (400, Some(-32602)));
        let error = &answer.json()["error"];
        assert_eq!(error["message"], format!("Invalid argument `{field}`: {message}."));
        assert_eq!((&error["data"]["field"], &error["data"]["message"]), (&json!(field), &json!(message)));
    }
}
