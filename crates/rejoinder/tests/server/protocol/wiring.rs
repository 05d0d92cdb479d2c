//! `Server::check()` lists every mistake at once.

use std::{sync::Arc, time::Duration};

use rejoinder::{
    BuiltServer, Call, FromCall, Resource, Tool, auth::Principal, http, model, prelude::*, server::Limits,
    state::StatePolicy, testing::Client,
};
use serde_json::json;

use crate::logged::Logged;

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

#[derive(Elicit, Clone)]
struct Contact {
    #[elicit(format = "email", default = "nobody")]
    email: String,
}

#[resolver]
fn contact() -> Result<Ask<Contact>, CallError> {
    Ok(Ask::user("Who is to know?"))
}

#[resolver]
fn domain(#[resolve(contact)] contact: &Contact) -> String {
    contact.email.rsplit('@').next().unwrap_or_default().to_owned()
}

#[tool]
async fn ask_around(#[resolve(domain)] domain: String) -> String {
    domain
}

#[prompt]
async fn letter(#[resolve(contact)] contact: Contact) -> String {
    contact.email
}

#[test]
fn a_form_with_a_bad_default_is_a_build_error() {
    let server = Server::new("letters", "1").tools(tools![ask_around]).prompts(prompts![letter]);
    insta::assert_snapshot!(server.check().unwrap_err(), @r#"
    the server cannot be built:
      tool `ask_around`: the form of resolver `contact` cannot be made: the default "nobody" of the field `email` must be an email address
      prompt `letter`: the form of resolver `contact` cannot be made: the default "nobody" of the field `email` must be an email address
    "#);
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
            dynamic("two words", json!({})).scopes(["read write"]),
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
      tool `report`: parameter `mailer` needs a `server::protocol::wiring::Mailer`: provide one with `.provide(..)`, not a `Result` or a future of it
      tool `report`: parameter `mailer` needs a `server::protocol::wiring::Mailer`: provide one with `.provide(..)`, not a `Result` or a future of it
      tool `report`: another tool has the same name; rename one with `#[tool(name = "..")]`, or use `Server::nest`
      tool ``: a name must be 1 to 128 characters: letters, digits, `_`, `-` or `.`
      tool `two words`: a name must be 1 to 128 characters: letters, digits, `_`, `-` or `.`
      tool `two words`: `read write` is not a scope: it has no spaces and no quotes
      tool `headers`: the header `mcp-param-a` is used for two arguments; rename one
      tool `headers`: `x-mcp-header` of `c` is "c d": it must be a header token such as `Region`
      prompt `draft`: parameter `mailer` needs a `server::protocol::wiring::Mailer`: provide one with `.provide(..)`, not a `Result` or a future of it
      prompt `draft`: parameter `mailer` needs a `server::protocol::wiring::Mailer`: provide one with `.provide(..)`, not a `Result` or a future of it
      prompt `draft`: another prompt has the same name; rename one with `#[prompt(name = "..")]`
      resource `row://{id}{?page}`: another resource has the same URI; change one of them
      resource `no-scheme`: a URI must begin with a scheme, such as `files://`
      resource `no-scheme`: parameter `id` is not a variable of the URI; add `{id}` to the URI
      resource `no-scheme`: parameter `page` is not a variable of the URI; add `{page}` to the URI
      resource `broken://{id`: `{` has no matching `}`: add one, or write `%7B` for the character itself
      resource `other://{id}{?id}`: there are two variables `id`: rename one
      resource `query://{?id,page}`: `id` may be absent from the URI; make its parameter an `Option` or give it a default
      resource `more://{id}/{what}{?page}`: the URI has a variable `what`, but the function has no such argument; add it
    "#);
}

#[tool]
async fn shared_twice(database: Dep<Arc<Database>>) {
    let _ = database;
}

#[resource("page://{name}")]
async fn never_absent(name: Option<String>) -> String {
    name.unwrap_or_default()
}

#[test]
fn what_can_never_be_is_a_mistake() {
    let server = Server::new("mistaken", "1").provide(Database).tools(tools![shared_twice]);
    insta::assert_snapshot!(server.resources(resources![never_absent]).check().unwrap_err(), @r"
    the server cannot be built:
      tool `shared_twice`: parameter `database` needs a `alloc::sync::Arc<server::protocol::wiring::Database>`: a `Dep` is shared already; take a `Dep<server::protocol::wiring::Database>`
      resource `page://{name}`: `name` is always in the URI; make its parameter neither an `Option` nor give it a default, or write `{?name}` for a variable that may be absent
    ");
}

#[resource("book://{title}")]
async fn book(title: String) -> String {
    format!("the book {title}")
}

/// Nobody would ever get here: every number is a title, too.
#[resource("book://{number}")]
async fn by_number(number: u32) -> String {
    format!("the book number {number}")
}

#[resource("book://{isbn}")]
async fn by_isbn(
    /// What only people read makes no difference.
    isbn: String,
) -> String {
    format!("the book with {isbn}")
}

#[test]
fn two_templates_for_the_same_uris_are_a_mistake() {
    let books = |books: Vec<Resource>| Server::new("books", "1").resources(books).check();
    insta::assert_snapshot!(books(resources![book, by_isbn, by_number]).unwrap_err(), @"
    the server cannot be built:
      resource `book://{isbn}`: it can never match: every URI it matches is matched by `book://{title}`, which was added first; change one of the two
      resource `book://{number}`: it can never match: every URI it matches is matched by `book://{title}`, which was added first; change one of the two
    ");
    let again = resources![book].remove(0).at("book:/{/title}");
    assert!(books(vec![resources![book].remove(0), again]).is_err(), "the same text, written in another way");
    assert!(books(vec![resources![book].remove(0), resources![by_isbn].remove(0).at("isbn://{isbn}")]).is_ok());
}

/// A text to the schema, and not every text to the type.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String")]
struct Shelf(String);

impl TryFrom<String> for Shelf {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.starts_with("shelf-") { Ok(Self(text)) } else { Err("no shelf") }
    }
}

#[resource("book://{shelf}")]
async fn on_shelf(shelf: Shelf) -> String {
    format!("the books on {}", shelf.0)
}

#[tokio::test]
async fn overlapping_templates_are_allowed_if_neither_hides_the_other() {
    let client = Client::new(Server::new("books", "1").resources(resources![on_shelf, book]));
    assert_eq!(client.read_resource("book://shelf-7").await.unwrap().text(), "the books on shelf-7");
    assert_eq!(client.read_resource("book://emma").await.unwrap().text(), "the book emma");
    let client = Client::new(Server::new("books", "1").resources(resources![by_number, book]));
    assert_eq!(client.read_resource("book://7").await.unwrap().text(), "the book number 7");
    assert_eq!(client.read_resource("book://emma").await.unwrap().text(), "the book emma");
}

#[tokio::test]
async fn a_template_that_hides_another_cannot_be_added_later() {
    let client = Client::new(Server::new("books", "1").resources(resources![by_number, book]));
    let handle = client.server().handle();
    let letter = resources![by_isbn].remove(0).at("letter://{isbn}");
    insta::assert_snapshot!(handle.add_resources([letter, resources![by_isbn].remove(0)]).unwrap_err(), @"
    nothing was added:
      resource `book://{isbn}`: it can never match: every URI it matches is matched by `book://{title}`, which was added first; change one of the two
    ");
    assert_eq!(client.list_resource_templates().await.unwrap().len(), 2, "all or nothing");
    handle.add_resources(resources![book]).expect("it replaces its namesake");
    handle.remove_resource("book://{title}");
    handle.add_resources(resources![by_isbn]).expect("its place is free");
    assert_eq!(client.read_resource("book://emma").await.unwrap().text(), "the book with emma");
}

#[test]
fn a_nest_has_a_name() {
    let server = Server::new("nested", "1").nest("", tools![report]).nest("shop", tools![ask_for_mail]);
    insta::assert_snapshot!(server.provide(Database).check().unwrap_err(), @"
    the server cannot be built:
      tool `report`: parameter `mailer` needs a `server::protocol::wiring::Mailer`: provide one with `.provide(..)`, not a `Result` or a future of it
      `nest`: the name is empty: give it one, or use `.tools(..)`
    ");
}

/// Sends a letter, where there is somebody to send it.
#[tool]
async fn ask_for_mail(#[resolve(is_stored)] stored: bool, mailer: Option<Dep<Mailer>>) -> String {
    format!("{} {stored}", mailer.is_some())
}

#[resolver]
fn is_stored(store: Option<Dep<dyn Store>>) -> bool {
    store.is_some()
}

#[tokio::test]
async fn a_service_may_be_left_out_where_it_is_optional() {
    let server = || Server::new("optional", "1").tools(tools![ask_for_mail]);
    let store: Arc<dyn Store> = Arc::new(Memory);
    for (server, expected) in [
        (server(), "false false"),
        (server().provide(Mailer), "true false"),
        (server().provide(Mailer).provide_arc(store), "true true"),
    ] {
        assert_eq!(Client::new(server).call_tool("ask_for_mail", json!({})).await.unwrap().text(), expected);
    }
}

trait Store: Send + Sync {}

struct Memory;

impl Store for Memory {}

#[tool]
async fn stored(_store: Dep<dyn Store>) {}

#[test]
fn a_service_behind_a_trait_is_provided_as_that_trait() {
    let server = || Server::new("trait", "1").tools(tools![stored]);
    let mistake = server().provide(Memory).check().unwrap_err();
    // As `unwrap` shows it.
    insta::assert_snapshot!(format!("{mistake:?}"), @"
    the server cannot be built:
      tool `stored`: parameter `_store` needs a `dyn server::protocol::wiring::Store`: provide an `Arc<dyn server::protocol::wiring::Store>` with `.provide_arc(..)`
    ");
    assert!(server().provide_arc::<dyn Store>(Arc::new(Memory)).check().is_ok());
}

#[test]
fn invalid_settings_are_build_errors() {
    let mut config = http::Config::new().session_timeout(Duration::ZERO);
    config = config.max_connections(0).max_sessions(0).max_calls_per_session(0);
    for host in ["mcp.example:8443", "[::1]", "https://mcp.example", "mcp.example/mcp", ""] {
        config = config.allow_host(host);
    }
    for origin in ["app.example", "https://app.example/", "https://", "://app.example"] {
        config = config.allow_origin(origin);
    }
    insta::assert_snapshot!(Server::new("mistaken", "1").page_size(0).http(config).check().unwrap_err(), @"
    the server cannot be built:
      `Server::page_size`: it must be at least 1
      `http::Config::allow_host`: `mcp.example:8443` is not a host name: write it without scheme, port, path and brackets, as in `mcp.example.com`
      `http::Config::allow_host`: `[::1]` is not a host name: write it without scheme, port, path and brackets, as in `mcp.example.com`
      `http::Config::allow_host`: `https://mcp.example` is not a host name: write it without scheme, port, path and brackets, as in `mcp.example.com`
      `http::Config::allow_host`: `mcp.example/mcp` is not a host name: write it without scheme, port, path and brackets, as in `mcp.example.com`
      `http::Config::allow_host`: `` is not a host name: write it without scheme, port, path and brackets, as in `mcp.example.com`
      `http::Config::allow_origin`: `app.example` is not an origin: write scheme and host without a path, as in `https://app.example.com`
      `http::Config::allow_origin`: `https://app.example/` is not an origin: write scheme and host without a path, as in `https://app.example.com`
      `http::Config::allow_origin`: `https://` is not an origin: write scheme and host without a path, as in `https://app.example.com`
      `http::Config::allow_origin`: `://app.example` is not an origin: write scheme and host without a path, as in `https://app.example.com`
      `http::Config::session_timeout`: it must be greater than zero
      `http::Config::max_connections`: it must be greater than zero
      `http::Config::max_sessions`: it must be greater than zero
      `http::Config::max_calls_per_session`: it must be greater than zero
    ");
    let mut config = http::Config::new();
    for host in ["mcp.example", "192.0.2.1", "2001:db8::1", "localhost"] {
        config = config.allow_host(host);
    }
    for origin in ["https://app.example", "http://localhost:6274", "http://[::1]:80", "app://-", "*", "null"] {
        config = config.allow_origin(origin);
    }
    assert!(Server::new("right", "1").http(config).check().is_ok());
}

/// A second one would drop all that the first one says, the authentication of callers among it.
#[test]
fn settings_with_many_parts_are_made_once() {
    for method in ["http", "state", "limits", "principal"] {
        let set = |server: Server| match method {
            "http" => server.http(http::Config::new()),
            "state" => server.state(StatePolicy::new()),
            "limits" => server.limits(Limits::new()),
            _ => server.principal(|_| None),
        };
        let server = set(Server::new("shop", "1"));
        let error = set(server).check().unwrap_err().to_string();
        let expected =
            format!("`Server::{method}`: it is called twice, and the last call would replace the one before; ");
        assert!(error.contains(&expected), "{error}");
        assert!(set(Server::new("shop", "1")).check().is_ok(), "{method}");
    }
    let server =
        Server::new("shop", "1").title("A shop").title("The shop").timeout(Duration::MAX).timeout(Duration::MAX);
    assert!(server.check().is_ok(), "a plain value is replaced");
}

#[resolver]
fn is_known(caller: Principal) -> bool {
    !caller.subject().is_empty()
}

/// Shows who calls.
#[tool]
fn who(caller: Principal) -> String {
    caller.subject().to_owned()
}

/// Shows whether somebody calls.
#[tool(enabled = is_known)]
fn greet() {}

/// Deletes an order.
#[tool(scopes = ["orders:write"])]
fn delete() {}

/// Shows who calls, if somebody does.
#[tool]
fn perhaps(caller: Option<Principal>) -> bool {
    caller.is_some()
}

#[test]
fn a_caller_that_nothing_identifies_is_a_warning() {
    let server = || Server::new("shop", "1").tools(tools![who, greet, delete, perhaps]);
    let warnings: Vec<String> = server().check().unwrap().iter().map(ToString::to_string).collect();
    let expected = [
        "tool `who`: parameter `caller` needs a caller",
        "tool `greet`: parameter `caller` of resolver `is_known` needs a caller",
        "tool `delete`: the scope `orders:write` needs a caller",
    ];
    assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
    for (warning, expected) in warnings.iter().zip(expected) {
        assert!(warning.starts_with(expected) && warning.contains("Server::principal"), "{warning}");
    }
    for server in [server().principal(|_| None), server().stdio_principal(Principal::new("ada"))] {
        assert_eq!(server.check(), Ok(Vec::new()));
    }
}

#[derive(Default)]
struct Login;

/// Shows what only a session has.
#[tool]
fn profile(_login: SessionState<Login>) {}

/// Shows it if there is a session.
#[tool]
fn session_or_not(login: Option<SessionState<Login>>) -> bool {
    login.is_some()
}

#[test]
fn the_state_of_a_session_where_there_are_none_is_a_warning() {
    let server = || Server::new("shop", "1").tools(tools![profile, session_or_not]);
    let warnings = server().stateless_only().check().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let expected =
        "tool `profile`: parameter `_login` needs a session, and `Server::stateless_only` turns sessions off";
    assert!(warnings[0].to_string().starts_with(expected), "{}", warnings[0]);
    assert_eq!(server().check(), Ok(Vec::new()));
}

#[test]
fn a_mounted_server_logs_the_paths_that_it_does_not_serve() {
    let (logged, _guard) = Logged::here();
    let config = http::Config::new().websocket("/mcp/ws").sse("/sse");
    let _service = Server::new("shop", "1").http(config).build().unwrap().into_service();
    for (setting, path) in [("websocket", "/mcp/ws"), ("sse", "/sse")] {
        let expected = format!(
            "`http::Config::{setting}` does nothing in a mounted server; mount `McpService::{setting}` at `{path}`"
        );
        assert!(logged.text().contains(&expected), "{}", logged.text());
    }
}

#[test]
fn a_provided_service_is_found() {
    let server = Server::new("wired", "1").provide(Database).provide(Mailer);
    assert!(server.tools(tools![report]).prompts(prompts![draft]).resources(resources![row]).check().is_ok());
}

#[test]
#[should_panic(expected = "tool `report`: parameter `database` needs a")]
fn the_test_client_reports_build_errors() {
    let _ = Client::new(Server::new("mistaken", "1").tools(tools![report]));
}

#[test]
#[should_panic(expected = "no `u32` was provided")]
fn the_test_client_replaces_only_existing_resolvers() {
    let _ = Client::new(Server::new("bare", "1")).replace(7_u32);
}

/// Nothing is declared but that there may be something later.
fn empty() -> BuiltServer {
    Server::new("later", "1").provide(Database).tools(tools![late]).prompts([]).resources([]).build().unwrap()
}

#[tool]
async fn late() -> &'static str {
    "first"
}

#[tokio::test]
async fn later_additions_are_checked_and_added_as_a_whole() {
    let server = empty();
    let (handle, client) = (server.handle(), Client::new(server));
    let mistakes = handle.add_tools(tools![late, report].into_iter().chain([dynamic("two words", json!({}))]));
    insta::assert_snapshot!(mistakes.unwrap_err(), @r"
    nothing was added:
      tool `report`: parameter `mailer` needs a `server::protocol::wiring::Mailer`: provide one with `.provide(..)`, not a `Result` or a future of it
      tool `two words`: a name must be 1 to 128 characters: letters, digits, `_`, `-` or `.`
    ");
    insta::assert_snapshot!(handle.add_prompts(prompts![draft]).unwrap_err(), @r"
    nothing was added:
      prompt `draft`: parameter `mailer` needs a `server::protocol::wiring::Mailer`: provide one with `.provide(..)`, not a `Result` or a future of it
    ");
    let broken = || resources![row].remove(0).at("broken://{id");
    insta::assert_snapshot!(handle.add_resources([resources![row].remove(0), broken()]).unwrap_err(), @r"
    nothing was added:
      resource `broken://{id`: `{` has no matching `}`: add one, or write `%7B` for the character itself
    ");
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    assert!(client.list_prompts().await.unwrap().is_empty());
    assert!(client.list_resource_templates().await.unwrap().is_empty());
    handle.add_resources(resources![row]).unwrap();
    assert_eq!(client.read_resource("row://7").await.unwrap().text(), "7 None");
}

#[tokio::test]
async fn an_added_item_replaces_the_one_of_the_same_name() {
    let server = empty();
    let (handle, client) = (server.handle(), Client::new(server));
    let again = |text: &'static str| {
        Tool::dynamic(model::Tool::new("late", "", model::JsonObject::new()), move |_, _| async move { text })
    };
    let twice = handle.add_tools([again("second"), again("third")]).unwrap_err();
    assert_eq!(twice.0.0.len(), 1, "{twice}");
    assert_eq!(client.call_tool("late", json!({})).await.unwrap().text(), "first");
    handle.add_tools([again("second")]).unwrap();
    assert_eq!(client.call_tool("late", json!({})).await.unwrap().text(), "second");
}

/// `?` in a tool: the author reads the mistakes in the log, the client an id.
#[tokio::test]
async fn a_tool_that_adds_an_invalid_item_fails() {
    #[tool]
    async fn unlock(server: ServerHandle) -> Result<(), CallError> {
        Ok(server.add_tools(tools![report])?)
    }
    let client = Client::new(Server::new("levels", "1").tools(tools![unlock]));
    let reply = client.call_tool("unlock", json!({})).await.unwrap();
    assert!(reply.is_error() && !reply.text().contains("Mailer"), "{}", reply.text());
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
}

/// Reads and destroys.
#[tool(read_only, destructive)]
async fn contradiction() {}

#[tool]
async fn undescribed() {}

#[prompt]
async fn undescribed_prompt() -> &'static str {
    ""
}

#[resource("plain://text")]
async fn undescribed_resource() -> &'static str {
    ""
}

/// A name that the protocol allows.
#[tool(name = "shop.count")]
async fn dotted() {}

/// A name that the protocol allows.
#[tool(name = "7_days")]
async fn digit() {}

/// A name of 65 characters.
#[tool(name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]
async fn long() {}

/// An argument with a name that the protocol allows.
#[tool]
async fn dashed(#[arg(name = "first-name")] name: String) -> String {
    name
}

/// Nothing is wrong with it.
#[tool(read_only)]
async fn fine(name: String) -> String {
    name
}

#[test]
fn check_warns_of_what_models_do_not_understand() {
    let server = Server::new("warnings", "1.0.0")
        .tools(tools![contradiction, undescribed, dotted, digit, long, dashed, fine])
        .prompts(prompts![undescribed_prompt])
        .resources(resources![undescribed_resource]);
    let warnings: Vec<String> = server.check().unwrap().iter().map(ToString::to_string).collect();
    let name =
        "model APIs refuse this name; use at most 64 letters, digits, `_` and `-`, and begin with a letter or `_`";
    let description = "it has no description; write a doc comment, so that a model knows what it is for";
    let expected = [
        "tool `contradiction`: it is both `read_only` and `destructive`; remove one of them".to_owned(),
        format!("tool `undescribed`: {description}"),
        format!("tool `shop.count`: {name}"),
        format!("tool `7_days`: {name}"),
        format!("tool `{}`: {name}", "a".repeat(65)),
        "tool `dashed`: model APIs refuse the argument name `first-name`; use at most 64 letters, digits and `_`, and begin \
         with a letter or `_`"
            .to_owned(),
        format!("prompt `undescribed_prompt`: {description}"),
        format!("resource `plain://text`: {description}"),
    ];
    assert_eq!(warnings, expected);
}

/// Without `#[resolve]`, the model would decide for the user.
#[test]
fn an_argument_with_the_name_of_a_resolver_is_a_warning() {
    #[resolver]
    fn approved(amount: u32) -> Ask<bool> {
        Ask::confirm(format!("Pay {amount}?"))
    }

    /// Pay.
    #[tool]
    fn pay(amount: u32, #[resolve(approved)] approved: bool) -> String {
        format!("{amount} {approved}")
    }

    /// Pay back.
    #[tool]
    fn pay_back(amount: u32, approved: bool) -> String {
        format!("{amount} {approved}")
    }

    let warnings = Server::new("bank", "1.0.0").tools(tools![pay, pay_back]).check().unwrap();
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["tool `pay_back`: the model supplies the argument `approved`, which has the name of a resolver; write \
          `#[resolve(approved)]` before the parameter, or rename it"]
    );
}

/// A counter that never gets past one.
#[test]
fn a_state_that_is_shared_with_nobody_is_a_warning() {
    #[resolver]
    fn noted(notes: State<Vec<String>>) {
        notes.with(|notes| notes.push("noted".to_owned()));
    }

    /// Count the calls.
    #[tool]
    fn count(counter: State<u32>, #[resolve(noted)] _noted: &(), notes: State<Vec<String>>) -> u32 {
        assert_eq!(notes.get().len(), 1);
        counter.with(|counter| {
            *counter += 1;
            *counter
        })
    }

    /// Notes only.
    #[tool]
    fn note(#[resolve(noted)] _noted: &()) {}

    let warnings = Server::new("counter", "1.0.0").tools(tools![count, note]).check().unwrap();
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "tool `count`: no other function takes the state of parameter `counter`, a `u32`, and it is a new one in each call: \
          for a value that lasts, provide it and take a `Dep`, or take a `SessionState`; otherwise use a variable"
        ]
    );
    // The resolver of two tools is one function.
    let warnings = Server::new("notes", "1.0.0").tools(tools![note]).nest("more", tools![note]).check().unwrap();
    assert!(warnings[0].to_string().starts_with("resolver `noted`: no other function takes the state"), "{warnings:?}");
}

/// What a `FromCall` type, a generic resolver, an uncached resolver and a pipe note is for others too.
#[test]
fn a_state_that_something_else_in_the_call_may_have_is_no_warning() {
    type Notes = State<Vec<String>>;

    struct Admitted;

    impl FromCall for Admitted {
        async fn from_call(call: &Call, parameter: &'static str) -> Result<Self, CallError> {
            Notes::from_call(call, parameter).await?.with(|notes| notes.push("admitted".to_owned()));
            Ok(Self)
        }
    }

    /// Reads what `Admitted` has noted.
    #[tool]
    fn by_type(_admitted: Admitted, notes: Notes) -> usize {
        notes.get().len()
    }

    #[resolver]
    fn size<T: Send + Sync + 'static>(notes: Notes) -> usize {
        notes.with(|notes| notes.push(std::any::type_name::<T>().to_owned()));
        size_of::<T>()
    }

    /// Takes the resolver with two types.
    #[tool]
    fn by_types(#[resolve(size::<u8>)] small: &usize, #[resolve(size::<u64>)] large: &usize) -> usize {
        small + large
    }

    #[resolver(cache = false)]
    fn numbered(notes: Notes) -> usize {
        notes.with(|notes| {
            notes.push("numbered".to_owned());
            notes.len()
        })
    }

    /// Takes the next number twice.
    #[tool]
    fn by_runs(#[resolve(numbered)] first: &usize, #[resolve(numbered)] second: &usize) -> usize {
        first + second
    }

    #[pipe]
    fn noted(text: String, notes: Notes) -> String {
        notes.with(|notes| notes.push(text.clone()));
        text
    }

    /// Has the pipe for two arguments.
    #[tool]
    fn by_pipes(#[pipe(noted)] first: String, #[pipe(noted)] second: String) -> String {
        first + &second
    }

    /// Has the pipe for one.
    #[tool]
    fn by_one_pipe(#[pipe(noted)] only: String) -> String {
        only
    }

    let warnings = |tool| Server::new("notes", "1.0.0").tools([tool]).check().unwrap();
    for tool in tools![by_type, by_types, by_runs, by_pipes] {
        let warnings = warnings(tool);
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    let warnings = Server::new("notes", "1.0.0").tools(tools![by_one_pipe]).check().unwrap();
    assert!(warnings[0].to_string().starts_with("pipe `noted`: no other function takes the state"), "{warnings:?}");
}
