//! Values for arguments, while they are typed.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rejoinder::{
    FromCall,
    call::{CallEnd, CompletionRequest, Era, Level},
    model::Reference,
    prelude::*,
    testing::Client,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Kind,
    Keen,
    Strict,
}

struct Books(usize);

#[completion]
async fn titles(typed: CompletionRequest) -> Vec<String> {
    let books = typed.call.dependency::<Books>().map_or(0, |books| books.0);
    (0..books).map(|number| format!("{}{number}", typed.value)).collect()
}

/// Depends on what was filled in before.
#[completion]
async fn chapters(typed: CompletionRequest) -> Vec<String> {
    typed.arguments.get("title").map(|title| format!("{title}: one")).into_iter().collect()
}

#[completion]
async fn broken(_: CompletionRequest) -> Vec<String> {
    panic!("a secret in a panic")
}

#[prompt]
async fn review(
    #[arg(complete = titles)] title: String,
    #[arg(complete = chapters)] chapter: String,
    #[arg(complete = broken)] broken: Option<String>,
    tone: Tone,
    free: Option<String>,
) -> String {
    let tone = match tone {
        Tone::Kind => "kind",
        Tone::Keen => "keen",
        Tone::Strict => "strict",
    };
    format!("{title} {chapter} {tone} {free:?} {broken:?}")
}

#[resource("book://{title}")]
async fn book(#[arg(complete = titles)] title: String) -> String {
    title
}

fn client(books: usize) -> Client {
    let server = Server::new("library", "1").provide(Books(books));
    Client::new(server.prompts(prompts![review]).resources(resources![book]))
}

fn review_prompt() -> Reference {
    Reference::prompt("review")
}

#[tokio::test]
async fn a_function_proposes_values_of_prompts_and_templates() {
    for reference in [review_prompt(), Reference::resource("book://{title}")] {
        let completion = client(2).complete(reference, "title", "x").await.unwrap();
        assert_eq!(completion.values, ["x0", "x1"]);
        assert_eq!((completion.total, completion.has_more), (Some(2), Some(false)));
    }
}

#[tokio::test]
async fn the_values_of_an_enum_are_proposed_without_a_function() {
    let client = client(0);
    assert_eq!(client.complete(review_prompt(), "tone", "k").await.unwrap().values, ["kind", "keen"]);
    assert_eq!(client.complete(review_prompt(), "tone", "").await.unwrap().values.len(), 3);
    assert_eq!(client.complete(review_prompt(), "tone", "x").await.unwrap().values, [] as [&str; 0]);
    assert_eq!(client.complete(review_prompt(), "free", "x").await.unwrap().values, [] as [&str; 0]);
}

#[tokio::test]
async fn at_most_a_hundred_are_sent_and_the_rest_is_counted() {
    let hundred = client(100).complete(review_prompt(), "title", "").await.unwrap();
    assert_eq!((hundred.values.len(), hundred.total, hundred.has_more), (100, Some(100), Some(false)));
    let more = client(250).complete(review_prompt(), "title", "").await.unwrap();
    assert_eq!((more.values.len(), more.total, more.has_more), (100, Some(250), Some(true)));
}

#[tokio::test]
async fn a_completion_sees_the_arguments_filled_in_before() {
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "review" },
        "argument": { "name": "chapter", "value": "" },
        "context": { "arguments": { "title": "Rust" } },
    });
    let result = client(0).request("completion/complete", params).await.unwrap();
    assert_eq!(result["completion"]["values"], json!(["Rust: one"]));
}

#[tokio::test]
async fn unknown_prompts_and_arguments_are_not_completed() {
    let client = client(1);
    for (reference, argument) in
        [(Reference::prompt("none"), "title"), (review_prompt(), "none"), (Reference::resource("book://1"), "title")]
    {
        assert_eq!(client.complete(reference, argument, "").await.unwrap_err().code(), Some(-32602));
    }
    for params in
        [json!({}), json!({ "ref": { "type": "ref/tool", "name": "x" }, "argument": { "name": "a", "value": "" } })]
    {
        assert_eq!(client.request("completion/complete", params).await.unwrap_err().code(), Some(-32602));
    }
}

#[prompt]
fn count_books(books: Dep<Books>) -> String {
    books.0.to_string()
}

/// No list shows it, so it is unknown like any other.
#[tokio::test]
async fn a_parameter_that_the_server_fills_is_not_completed() {
    let client = Client::new(Server::new("library", "1").provide(Books(1)).prompts(prompts![count_books]));
    assert_eq!(client.list_prompts().await.unwrap()[0].arguments, None);
    let error = client.complete(Reference::prompt("count_books"), "books", "").await.unwrap_err();
    assert_eq!(error.code(), Some(-32602));
}

#[tokio::test]
async fn a_completion_that_panics_is_an_internal_error() {
    let client = client(1);
    let error = client.complete(review_prompt(), "broken", "").await.unwrap_err();
    assert_eq!(error.code(), Some(-32603));
    assert!(!error.to_string().contains("secret"));
    assert_eq!(client.complete(review_prompt(), "title", "a").await.unwrap().values, ["a0"]);
}

#[tokio::test]
async fn a_prompt_that_is_added_later_is_completed() {
    for era in [Era::Stateless, Era::Session] {
        let client = Client::new(Server::new("later", "1").provide(Books(1)).prompts([])).era(era);
        client.server().handle().add_prompts(prompts![review]).unwrap();
        assert_eq!(client.complete(review_prompt(), "title", "a").await.unwrap().values, ["a0"], "{era:?}");
    }
}

#[tokio::test]
async fn a_server_without_prompts_and_resources_has_no_completion() {
    for era in [Era::Stateless, Era::Session] {
        let client = Client::new(Server::new("tools", "1").tools([])).era(era);
        assert_eq!(client.complete(review_prompt(), "title", "a").await.unwrap_err().code(), Some(-32601), "{era:?}");
    }
}

/// Says more than anybody waits for.
#[completion]
async fn talkative(typed: CompletionRequest) -> Vec<String> {
    let context = Context::from_call(&typed.call, "context").await.unwrap();
    for step in 0..1000 {
        context.progress(f64::from(step)).await;
        context.error(step).await;
    }
    vec!["done".to_owned()]
}

#[prompt]
async fn chat(#[arg(complete = talkative)] topic: String) -> String {
    topic
}

#[tokio::test]
async fn a_completion_that_logs_ends() {
    for era in [Era::Stateless, Era::Session] {
        let client = Client::new(Server::new("chat", "1").prompts(prompts![chat])).log_level(Level::Debug).era(era);
        let params = json!({ "ref": { "type": "ref/prompt", "name": "chat" },
            "argument": { "name": "topic", "value": "" },
            "_meta": { "progressToken": 1 } });
        let completing = client.request("completion/complete", params);
        let result = tokio::time::timeout(Duration::from_secs(30), completing).await.expect("it hangs").unwrap();
        assert_eq!(result["completion"]["values"], json!(["done"]), "{era:?}");
    }
}

/// Completions that began, and how they ended.
#[derive(Default)]
struct Endings {
    begun: tokio::sync::Notify,
    ended: Mutex<Vec<CallEnd>>,
}

/// Reports whether the call has ended, and defers a function; never returns if that was typed.
#[completion]
async fn deferring(typed: CompletionRequest) -> Vec<String> {
    let endings = typed.call.dependency::<Endings>().unwrap();
    endings.begun.notify_one();
    let scope = Scope::from_call(&typed.call, "scope").await.unwrap();
    scope.defer(move |ending| async move { endings.ended.lock().unwrap().push(ending) });
    match typed.value.as_str() {
        "wait" => std::future::pending().await,
        "panic" => panic!("on purpose"),
        _ => vec![format!("over: {}", typed.call.cancellation().is_cancelled())],
    }
}

#[prompt]
async fn scoped(#[arg(complete = deferring)] topic: String) -> String {
    topic
}

fn scoped_client() -> (Client, Arc<Endings>) {
    let endings = Arc::new(Endings::default());
    let server = Server::new("scoped", "1").provide_arc(Arc::clone(&endings)).prompts(prompts![scoped]);
    (Client::new(server), endings)
}

#[tokio::test]
async fn a_completion_is_a_call_with_an_end() {
    for era in [Era::Stateless, Era::Session] {
        let (client, endings) = scoped_client();
        let client = client.era(era);
        let completion = client.complete(Reference::prompt("scoped"), "topic", "x").await.unwrap();
        assert_eq!(completion.values, ["over: false"], "{era:?}");
        client.complete(Reference::prompt("scoped"), "topic", "panic").await.unwrap_err();
        assert_eq!(*endings.ended.lock().unwrap(), [CallEnd::Succeeded, CallEnd::Panicked], "{era:?}");
    }
}

#[tokio::test]
async fn a_completion_runs_its_deferred_functions_after_the_client_has_disconnected() {
    let (client, endings) = scoped_client();
    let waiting = tokio::spawn(async move { client.complete(Reference::prompt("scoped"), "topic", "wait").await });
    endings.begun.notified().await;
    waiting.abort();
    for _ in 0..1000 {
        if !endings.ended.lock().unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(*endings.ended.lock().unwrap(), [CallEnd::Cancelled]);
}

/// What every completion of a call shares.
#[resolver]
fn shelf(books: Dep<Books>) -> String {
    format!("shelf of {}", books.0)
}

/// Takes what a pipe takes, and may fail.
#[completion]
fn authors(
    typed: CompletionRequest,
    books: Dep<Books>,
    #[header] x_language: Option<String>,
    #[resolve(shelf)] shelf: &str,
    context: PipeContext,
) -> Result<Vec<String>, CallError> {
    let language = x_language.ok_or_else(|| CallError::new("say which language"))?;
    Ok(vec![format!("{} {} {language} {shelf} {}", typed.value, books.0, context.field)])
}

struct Shop(&'static str);

#[handlers]
impl Shop {
    #[completion]
    fn items(&self, _: CompletionRequest) -> Vec<String> {
        vec![self.0.to_owned()]
    }

    #[prompt]
    fn pitch(&self, #[arg(complete = Self::items)] item: String) -> String {
        item
    }
}

#[prompt]
fn biography(#[arg(complete = authors)] author: String) -> String {
    author
}

#[tokio::test]
async fn a_completion_function_takes_services_headers_and_the_values_of_resolvers() {
    let server = Server::new("library", "1").provide(Books(2)).prompts(prompts![biography]);
    let client = Client::new(server.prompts(Arc::new(Shop("tea")).prompts()));
    for era in [Era::Stateless, Era::Session] {
        let client = client.clone().era(era);
        let complete = async |client: &Client| client.complete(Reference::prompt("biography"), "author", "a").await;
        let spoken = client.clone().header("x-language", "en");
        assert_eq!(complete(&spoken).await.unwrap().values, ["a 2 en shelf of 2 author"]);
        let doubled = spoken.replace_resolver::<shelf>(|| "double".to_owned());
        assert_eq!(complete(&doubled).await.unwrap().values, ["a 2 en double author"]);
        let error = complete(&client).await.unwrap_err();
        assert!(error.to_string().contains("say which language"), "{error}");
        let items = client.complete(Reference::prompt("pitch"), "item", "").await.unwrap();
        assert_eq!(items.values, ["tea"]);
    }
}

#[test]
fn what_a_completion_function_needs_must_be_provided() {
    let error = Server::new("library", "1").prompts(prompts![biography]).check().unwrap_err();
    let problems: Vec<_> = error.0.iter().map(|problem| &*problem.message).collect();
    let remedy = "needs a `server::protocol::completion::Books`: provide one with `.provide(..)`, not a `Result` or a future of it";
    let expected = ["`books` of completion function `authors`", "`books` of resolver `shelf`"];
    assert_eq!(problems, expected.map(|parameter| format!("parameter {parameter} {remedy}")));
}
