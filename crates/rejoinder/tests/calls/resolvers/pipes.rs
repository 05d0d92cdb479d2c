//! Pipes: what an argument or a header passes through on its way to a parameter.

use rejoinder::inject::PipeSource;

use super::*;

struct Users;

#[derive(Debug, Clone, PartialEq)]
struct User {
    name: String,
}

/// The events, in order.
#[derive(Default)]
struct Events(Mutex<Vec<String>>);

impl Events {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[pipe]
fn trim(text: String) -> String {
    text.trim().to_owned()
}

#[pipe]
async fn find_user(name: String, _users: Dep<Users>, runs: Dep<Runs>) -> Result<User, FieldError> {
    tokio::task::yield_now().await;
    runs.count("find_user");
    match &*name {
        "ada" | "bob" => Ok(User { name }),
        "database" => Err(std::io::Error::other("a secret of the database"))?,
        "call" => Err(CallError::new("the users are on holiday"))?,
        _ => Err(FieldError::new(format!("there is no user `{name}`"))),
    }
}

#[pipe]
fn even(number: u32) -> Result<u32, FieldError> {
    if number.is_multiple_of(2) { Ok(number) } else { Err(FieldError::new(format!("{number} is odd"))) }
}

/// Everything that a pipe may take.
#[pipe]
fn described(
    value: String,
    context: PipeContext,
    ctx: Context,
    #[header] x_tenant: Option<String>,
    #[resolve(tenant_name)] tenant: &str,
) -> String {
    let source = if context.source == PipeSource::Header { "header" } else { "argument" };
    let is_same = ctx.era() == context.call.request().era;
    format!("{value} ({source} {} {x_tenant:?} {tenant} {is_same})", context.field)
}

#[resolver]
fn tenant_name(runs: Dep<Runs>) -> String {
    runs.count("tenant_name");
    "acme".to_owned()
}

/// Greet a user.
#[tool]
async fn greet(
    #[pipe(trim, find_user)] user: User,
    #[arg(default = " bob ")]
    #[pipe(trim, find_user)]
    by: User,
    #[pipe(find_user)] friend: Option<User>,
    #[pipe(even)] times: u32,
) -> String {
    format!("{} by {} with {:?}, {times} times", user.name, by.name, friend.map(|friend| friend.name))
}

#[prompt]
fn greeting(#[pipe(trim, find_user)] user: User) -> String {
    user.name
}

#[resource("user://{user}{?friend}")]
fn user_page(#[pipe(find_user)] user: User, #[pipe(find_user)] friend: Option<User>) -> String {
    format!("{} {:?}", user.name, friend.map(|friend| friend.name))
}

/// Takes the argument after its pipes.
#[resolver]
fn initial(user: &User, runs: Dep<Runs>) -> String {
    runs.count("initial");
    user.name.chars().take(1).collect()
}

#[tool]
fn initials(#[pipe(trim, find_user)] user: User, #[resolve(initial)] initial: &str) -> String {
    format!("{initial} of {}", user.name)
}

#[tool]
fn describe(
    #[pipe(described)] text: String,
    #[header("x-user")]
    #[pipe(trim, described)]
    user: Option<String>,
    #[header("x-friend", default = "bob")]
    #[pipe(find_user)]
    friend: User,
    #[resolve(tenant_name)] tenant: &str,
) -> String {
    format!("{text}; {user:?}; {}; {tenant}", friend.name)
}

fn server(runs: &Arc<Runs>) -> Server {
    let server = Server::new("pipes", "1.0.0").provide(Users).provide_arc(Arc::clone(runs));
    let server = server.tools(tools![greet, initials, describe]);
    server.prompts(prompts![greeting]).resources(resources![user_page])
}

fn client() -> Client {
    Client::new(server(&Arc::default()))
}

#[tokio::test]
async fn a_value_passes_through_its_pipes_in_order() {
    in_both_eras(client(), async |client| {
        let reply = client.call_tool("greet", json!({ "user": " ada ", "times": 2 })).await.unwrap();
        assert_eq!(
            reply.text(),
            "ada by bob with None, 2 times",
            "a default passes through, an absent `Option` does not"
        );
        let sent = json!({ "user": "bob", "by": " ada", "friend": "ada", "times": 4 });
        assert_eq!(client.call_tool("greet", sent).await.unwrap().text(), "bob by ada with Some(\"ada\"), 4 times");
        assert_eq!(client.get_prompt("greeting", json!({ "user": " ada" })).await.unwrap().text(), "ada");
        assert_eq!(client.read_resource("user://ada?friend=bob").await.unwrap().text(), "ada Some(\"bob\")");
        assert_eq!(client.read_resource("user://ada").await.unwrap().text(), "ada None");
    })
    .await;
}

#[tokio::test]
async fn the_schema_shows_what_the_first_pipe_takes() {
    let tools = client().list_tools().await.unwrap();
    let schema = &tools.iter().find(|tool| tool.name == "greet").unwrap().input_schema;
    assert_eq!(schema["required"], json!(["user", "times"]));
    assert_eq!(schema["properties"]["user"], json!({ "type": "string" }));
    assert_eq!(schema["properties"]["by"], json!({ "type": "string", "default": " bob " }));
    assert_eq!(schema["properties"]["friend"], json!({ "type": "string" }));
    let prompts = client().list_prompts().await.unwrap();
    assert_eq!(prompts[0].arguments.as_ref().unwrap()[0].required, Some(true));
}

#[tokio::test]
async fn everything_that_is_refused_is_reported_together_like_any_other_argument() {
    let sent = json!({ "user": "eve", "friend": "mallory", "times": 3 });
    let all = "Invalid arguments:\n- `user`: there is no user `eve`\n- `friend`: there is no user `mallory`\n- `times`: 3 is odd";
    in_both_eras(client(), async |client| {
        let reply = client.call_tool("greet", sent.clone()).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), all);
        let prompt = client.get_prompt("greeting", json!({ "user": "eve" })).await.unwrap_err();
        assert_eq!(prompt.code(), Some(-32602), "{prompt}");
        assert!(prompt.to_string().contains("Invalid argument `user`: there is no user `eve`."), "{prompt}");
        let resource = client.read_resource("user://ada?friend=eve").await.unwrap_err();
        assert_eq!(resource.code(), Some(-32602), "{resource}");
        assert!(resource.to_string().contains("Invalid argument `friend`: there is no user `eve`."), "{resource}");
    })
    .await;
    in_both_eras(Client::new(server(&Arc::default()).strict_arguments()), async |client| {
        let error = client.call_tool("greet", sent.clone()).await.unwrap_err();
        assert_eq!(error.code(), Some(-32602), "{error}");
        assert!(error.to_string().contains(all), "{error}");
    })
    .await;
}

#[tokio::test]
async fn pipes_run_when_all_arguments_have_been_read() {
    let runs = Arc::new(Runs::default());
    in_both_eras(Client::new(server(&runs)), async |client| {
        let reply = client.call_tool("greet", json!({ "user": "eve", "times": "many" })).await.unwrap();
        assert_eq!(reply.text(), "Invalid argument `times`: expected an integer, got the string \"many\".");
        let reply = client.call_tool("greet", json!({ "user": "ada", "times": 2, "more": 1 })).await.unwrap();
        assert!(reply.text().contains("`more`"), "{}", reply.text());
    })
    .await;
    assert_eq!(runs.of("find_user"), 0);
}

#[tokio::test]
async fn a_pipe_that_fails_otherwise_ends_the_call() {
    in_both_eras(client(), async |client| {
        let call = async |user: &str| client.call_tool("greet", json!({ "user": user, "times": 3 })).await.unwrap();
        let reply = call("call").await;
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the users are on holiday");
        let reply = call("database").await;
        assert!(reply.is_error());
        assert!(!reply.text().contains("secret") && !reply.text().contains("odd"), "{}", reply.text());
    })
    .await;
}

#[tokio::test]
async fn a_resolver_takes_the_argument_after_its_pipes() {
    let runs = Arc::new(Runs::default());
    in_both_eras(Client::new(server(&runs)), async |client| {
        let reply = client.call_tool("initials", json!({ "user": " ada" })).await.unwrap();
        assert_eq!(reply.text(), "a of ada");
        let refused = client.call_tool("initials", json!({ "user": "eve" })).await.unwrap();
        assert_eq!(refused.text(), "Invalid argument `user`: there is no user `eve`.");
    })
    .await;
    assert_eq!(runs.of("initial"), 2, "only where the argument got through");
}

#[tokio::test]
async fn l7_headers_pass_through_pipes_which_take_what_resolvers_take() {
    let runs = Arc::new(Runs::default());
    let client = Client::new(server(&runs)).header("x-tenant", "t");
    in_both_eras(client.clone(), async |client| {
        let text = r#"a (argument text Some("t") acme true)"#;
        let call = async |client: Client| client.call_tool("describe", json!({ "text": "a" })).await.unwrap();
        assert_eq!(call(client.clone()).await.text(), format!("{text}; None; bob; acme"));
        let reply = call(client.clone().header("x-user", " ada ").header("x-friend", "ada")).await;
        let user = r#"Some("ada (header x-user Some(\"t\") acme true)")"#;
        assert_eq!(reply.text(), format!("{text}; {user}; ada; acme"));
        let reply = call(client.header("x-friend", "eve")).await;
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the header `x-friend` is refused: there is no user `eve`");
    })
    .await;
    assert_eq!(runs.of("tenant_name"), 6, "once in each call, for the pipes and the function");
    let client = client.replace_resolver::<tenant_name>(|| "double".to_owned());
    let reply = client.call_tool("describe", json!({ "text": "a" })).await.unwrap();
    assert_eq!(reply.text(), r#"a (argument text Some("t") double true); None; bob; double"#);
}

/// The rules are about what is sent.
#[tool]
fn ruled(
    #[arg(max_length = 5)]
    #[pipe(trim, find_user)]
    user: User,
) -> String {
    user.name
}

#[tokio::test]
async fn the_rules_of_an_argument_are_checked_before_its_pipes_run() {
    let runs = Arc::new(Runs::default());
    let server = Server::new("pipes", "1").provide(Users).provide_arc(Arc::clone(&runs)).tools(tools![ruled]);
    in_both_eras(Client::new(server), async |client| {
        let tool = client.list_tools().await.unwrap().remove(0);
        assert_eq!(tool.input_schema["properties"]["user"], json!({ "type": "string", "maxLength": 5 }));
        assert_eq!(client.call_tool("ruled", json!({ "user": " ada " })).await.unwrap().text(), "ada");
        let reply = client.call_tool("ruled", json!({ "user": "  ada  " })).await.unwrap();
        assert!(reply.is_error() && reply.text().starts_with("Invalid argument `user`: "), "{}", reply.text());
    })
    .await;
    assert_eq!(runs.of("find_user"), 2);
}

#[pipe]
async fn met(name: String, barrier: Dep<Barrier>) -> String {
    barrier.wait().await;
    name
}

#[tool]
fn meet(
    #[pipe(met)] one: String,
    #[header]
    #[pipe(met)]
    x_other: String,
    #[pipe(met)] none: Option<String>,
) -> String {
    format!("{one} {x_other} {none:?}")
}

#[tokio::test]
async fn several_parameters_pass_through_their_pipes_at_once() {
    let server = Server::new("pipes", "1").provide(Barrier::new(2)).tools(tools![meet]);
    in_both_eras(Client::new(server).header("x-other", "b"), async |client| {
        let reply = client.call_tool("meet", json!({ "one": "a" })).await.unwrap();
        assert_eq!(reply.text(), "a b None");
    })
    .await;
}

/// Asks which of several users is meant.
#[resolver]
fn which() -> Ask<Name> {
    Ask::user("Which one?")
}

#[pipe]
fn choose(name: String, #[resolve(which)] which: &Name, scope: Scope, events: Dep<Events>) -> Result<User, FieldError> {
    events.note(format!("open {name}"));
    scope.defer(move |end| async move { events.note(format!("close {end:?}")) });
    if name == "eve" { Err(FieldError::new("not her")) } else { Ok(User { name: format!("{name} {}", which.name) }) }
}

#[pipe]
fn counted(name: String, events: Dep<Events>) -> String {
    events.note("counted");
    name
}

#[tool]
fn pick(#[pipe(choose)] user: User, #[pipe(counted)] note: String, #[resolve(which)] which: &Name) -> String {
    format!("{} {note} {}", user.name, which.name)
}

#[tokio::test]
async fn a_pipe_may_take_an_answer_and_what_it_opens_is_torn_down() {
    let events = Arc::new(Events::default());
    let client = Client::new(Server::new("pipes", "1").provide_arc(Arc::clone(&events)).tools(tools![pick]));
    in_both_eras(client.answer("which", ada()), async |client| {
        let reply = client.call_tool("pick", json!({ "user": "the first", "note": "n" })).await.unwrap();
        assert_eq!(reply.text(), "the first Ada n Ada");
        assert_eq!(reply.asked, [["which"]]);
        let (counted, others): (Vec<_>, Vec<_>) = events.take().into_iter().partition(|event| event == "counted");
        assert_eq!(others, ["open the first", "close Succeeded"]);
        assert_eq!(counted.len(), reply.ran.len(), "in each round");
        let reply = client.call_tool("pick", json!({ "user": "eve", "note": "n" })).await.unwrap();
        assert_eq!(reply.text(), "Invalid argument `user`: not her.");
        assert_eq!(
            events.take().iter().filter(|event| *event != "counted").collect::<Vec<_>>(),
            ["open eve", "close Failed"]
        );
    })
    .await;
}

struct Directory(Vec<&'static str>);

#[handlers]
impl Directory {
    #[pipe]
    fn known(&self, name: String) -> Result<User, FieldError> {
        if self.0.contains(&&*name) { Ok(User { name }) } else { Err(FieldError::new("unknown")) }
    }

    #[tool]
    fn show(&self, #[pipe(trim, Self::known)] user: User) -> String {
        user.name
    }
}

#[tokio::test]
async fn a_method_can_be_a_pipe() {
    let client = Client::new(Server::new("pipes", "1").tools(Arc::new(Directory(vec!["ada"])).tools()));
    assert_eq!(client.call_tool("show", json!({ "user": " ada" })).await.unwrap().text(), "ada");
    let reply = client.call_tool("show", json!({ "user": "eve" })).await.unwrap();
    assert_eq!(reply.text(), "Invalid argument `user`: unknown.");
}

/// Pipes of another module.
mod elsewhere {
    use super::*;

    pub(super) mod deeper {
        use super::*;

        #[pipe]
        pub(crate) async fn doubled(text: String) -> String {
            text.repeat(2)
        }
    }

    /// What is not sent is this pipe's affair: it takes an `Option`.
    #[pipe]
    pub(super) fn or_nobody(name: Option<String>) -> String {
        name.unwrap_or_else(|| "nobody".to_owned())
    }

    /// What it makes may be missing, though the argument is required.
    #[pipe]
    pub(super) fn if_known(name: String) -> Option<User> {
        (name == "ada").then_some(User { name })
    }
}

use elsewhere::if_known;

#[tool]
fn find(
    #[pipe(elsewhere::or_nobody, elsewhere::deeper::doubled)] by: String,
    #[pipe(trim, if_known)] user: Option<User>,
) -> String {
    format!("{:?} by {by}", user.map(|user| user.name))
}

#[tokio::test]
async fn pipes_decide_what_an_option_means() {
    in_both_eras(Client::new(Server::new("pipes", "1").tools(tools![find])), async |client| {
        let tool = client.list_tools().await.unwrap().remove(0);
        assert_eq!(tool.input_schema["required"], json!(["user"]), "the last pipe makes the `Option`");
        for (sent, expected) in [
            (json!({ "user": " ada" }), r#"Some("ada") by nobodynobody"#),
            (json!({ "user": "eve", "by": "b" }), "None by bb"),
            (json!({ "user": "eve", "by": null }), "None by nobodynobody"),
        ] {
            assert_eq!(client.call_tool("find", sent).await.unwrap().text(), expected);
        }
    })
    .await;
}

#[test]
fn what_only_a_pipe_can_make_cannot_be_read_by_a_tool_that_is_made_at_run_time() {
    let schema = json!({ "type": "object", "properties": { "user": { "type": "string" } } });
    let record = rejoinder::model::Tool::new("initials", "Show them.", schema.as_object().cloned().unwrap());
    let tool = rejoinder::Tool::dynamic(record, |_, _| async { "never" }).resolve::<initial>();
    let error = Server::new("pipes", "1").provide(Runs::default()).tools([tool]).check().unwrap_err();
    assert!(error.to_string().contains("as a `&User`, which only a pipe can make"), "{error}");
}

#[test]
fn a_pipe_stays_a_function() {
    assert_eq!(trim(" a ".to_owned()), "a");
}

#[test]
fn what_a_pipe_needs_must_be_provided() {
    let error = Server::new("pipes", "1").provide(Runs::default()).tools(tools![initials]).check().unwrap_err();
    let needs = "parameter `_users` of pipe `find_user` needs a `calls::resolvers::pipes::Users`: provide one with `.provide(..)`, not a `Result` or a future of it";
    assert_eq!(error.0.iter().map(|problem| &*problem.message).collect::<Vec<_>>(), [needs]);
}

#[test]
fn the_graph_shows_pipes() {
    let server = Server::new("pipes", "1").tools(tools![initials]);
    let graph = "\
tool initials
├─ user: User             argument, through `trim`, `find_user`
│  ├─ _users: Dep<Users>  injected
│  └─ runs: Dep<Runs>     injected
└─ initial: &str          from `initial`
   ├─ user: &User         argument
   └─ runs: Dep<Runs>     injected
";
    assert_eq!(server.graph().to_string(), graph);
}
