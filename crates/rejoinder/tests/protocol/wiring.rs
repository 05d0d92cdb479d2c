//! `Server::check()` lists every mistake at once.

use rejoinder::{Tool, model, prelude::*, testing::Client};
use serde_json::json;

struct Database;
struct Mailer;

#[tool]
async fn report(database: Dep<Database>, mailer: Dep<Mailer>) {
    let _ = (database, mailer);
}

#[prompt]
async fn draft(mailer: Dep<Mailer>) -> &'static str {
    let _ = mailer;
    "Draft."
}

#[resource("row://{id}{?page}")]
async fn row(id: u32, page: Option<u32>, database: Dep<Database>) -> String {
    let _ = database;
    format!("{id} {page:?}")
}

fn dynamic(name: &'static str, schema: serde_json::Value) -> Tool {
    let record = model::Tool::new(name, "", schema.as_object().unwrap().clone());
    Tool::dynamic(record, |_, _| async {})
}

#[test]
fn all_mistakes_are_listed_at_once() {
    let header = |header: &str| json!({ "type": "string", "x-mcp-header": header });
    let resource = || resources![row].remove(0);
    let mistakes = Server::new("mistaken", "1")
        .provide(Database)
        .tools(tools![report, report])
        .tools([
            dynamic("", json!({})),
            dynamic("two words", json!({})),
            dynamic("headers", json!({ "properties": { "a": header("A"), "b": header("a"), "c": header("c d") } })),
        ])
        .prompts(prompts![draft, draft])
        .resources([
            resource(),
            resource(),
            resource().at("no-scheme"),
            resource().at("broken://{id"),
            resource().at("other://{id}{?id}"),
            resource().at("query://{?id,page}"),
            resource().at("more://{id}/{what}{?page}"),
        ])
        .check()
        .unwrap_err();
    insta::assert_snapshot!(mistakes, @r#"
    the server cannot be built:
      tool `report`: parameter `mailer` needs a `protocol::wiring::Mailer`: provide one with `.provide(..)`
      tool `report`: parameter `mailer` needs a `protocol::wiring::Mailer`: provide one with `.provide(..)`
      tool `report`: there are two of this name; give one of them another with `#[tool(name = "..")]`
      tool ``: a name has 1 to 128 letters, digits, `_`, `-` or `.`
      tool `two words`: a name has 1 to 128 letters, digits, `_`, `-` or `.`
      tool `headers`: `x-mcp-header` of `c` is "c d": it must be a header token such as `Region`
      tool `headers`: the header `mcp-param-a` is used for two arguments
      prompt `draft`: parameter `mailer` needs a `protocol::wiring::Mailer`: provide one with `.provide(..)`
      prompt `draft`: parameter `mailer` needs a `protocol::wiring::Mailer`: provide one with `.provide(..)`
      prompt `draft`: there are two of this name; give one of them another with `#[prompt(name = "..")]`
      resource `row://{id}{?page}`: there are two at this URI
      resource `no-scheme`: a URI begins with a scheme, such as `files://`
      resource `no-scheme`: its function takes `id`, which is no variable of the URI
      resource `no-scheme`: its function takes `page`, which is no variable of the URI
      resource `broken://{id`: a `{` has no `}` after it
      resource `other://{id}{?id}`: the variable `id` appears twice
      resource `query://{?id,page}`: `id` may be absent from the URI, so its parameter must be an `Option` or have a default
      resource `more://{id}/{what}{?page}`: the URI's variable `what` is no parameter of its function
    "#);
}

#[test]
fn what_was_provided_is_not_missed() {
    let server = Server::new("wired", "1").provide(Database).provide(Mailer);
    assert!(server.tools(tools![report]).prompts(prompts![draft]).resources(resources![row]).check().is_ok());
}

#[test]
#[should_panic(expected = "tool `report`: parameter `database` needs a")]
fn the_test_client_says_what_is_wrong() {
    let _ = Client::new(Server::new("mistaken", "1").tools(tools![report]));
}

#[test]
#[should_panic(expected = "the server was provided with no `u32`")]
fn the_test_client_replaces_only_what_is_there() {
    let _ = Client::new(Server::new("bare", "1")).replace(7_u32);
}
