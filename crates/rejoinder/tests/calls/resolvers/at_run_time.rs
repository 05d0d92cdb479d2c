//! Tools that are made at run time, behind resolvers.

use rejoinder::{Tool, model};

use super::*;

#[resolver]
fn size(path: &str, depth: Option<u32>) -> usize {
    path.len() + depth.unwrap_or_default() as usize
}

#[resolver]
fn confirm(path: &str, #[resolve(size)] size: usize) -> Ask<Confirm> {
    Ask::user(format!("Delete {path} ({size})?"))
}

#[resolver]
fn broken() -> Result<u8, CallError> {
    Err(CallError::new("not now"))
}

fn record(properties: serde_json::Value) -> model::Tool {
    let schema = json!({ "type": "object", "properties": properties });
    model::Tool::new("delete", "Delete something.", schema.as_object().cloned().unwrap())
}

fn plain(properties: serde_json::Value) -> Tool {
    Tool::dynamic(record(properties), |arguments, ctx| async move {
        let (sure, size) = (ctx.resolved::<confirm>()?.yes, ctx.resolved::<size>()?);
        Ok::<_, CallError>(format!("{} {sure} {size}", arguments["path"]))
    })
}

fn guarded() -> Tool {
    plain(json!({ "path": { "type": "string" }, "depth": { "type": "integer" } }))
        .resolve::<confirm>()
        .resolve::<size>()
}

fn mistakes(tool: Tool) -> String {
    Server::new("r", "1").tools([tool]).check().unwrap_err().to_string()
}

#[tokio::test]
async fn resolvers_run_before_the_function_which_takes_their_values() {
    let server = || Server::new("r", "1").tools([guarded()]);
    in_both_eras(Client::new(server()).answer("confirm", Confirm { yes: true }), async |client| {
        let reply = client.call_tool("delete", json!({ "path": "/a", "depth": 3 })).await.unwrap();
        assert_eq!(reply.text(), r#""/a" true 5"#);
        assert_eq!(reply.asked, [["confirm"]]);
        assert_eq!(reply.ran.last().unwrap(), &["size", "confirm"]);
    })
    .await;
    let reply = Client::new(server()).decline("confirm").call_tool("delete", json!({ "path": "/a" })).await.unwrap();
    assert_eq!(reply.text(), "the user declined `confirm`");
    let client = Client::new(server()).replace_resolver::<confirm>(|| Confirm { yes: false });
    assert_eq!(client.call_tool("delete", json!({ "path": "/a" })).await.unwrap().text(), r#""/a" false 2"#);
}

#[tokio::test]
async fn a_failure_ends_the_call() {
    let client = Client::new(Server::new("r", "1").tools([plain(json!({})).resolve::<broken>()]));
    assert_eq!(client.call_tool("delete", json!({})).await.unwrap().text(), "not now");
}

#[tokio::test]
async fn all_bad_arguments_are_reported_before_anything_runs() {
    let client = Client::new(Server::new("r", "1").tools([guarded()]));
    let reply = client.call_tool("delete", json!({ "path": 5, "depth": "deep" })).await.unwrap();
    assert!(
        reply.is_error() && reply.text().contains("`path`") && reply.text().contains("`depth`"),
        "{}",
        reply.text()
    );
    assert!(reply.ran.concat().is_empty());
    // The schema allows it, and the type in which a resolver takes it does not.
    let reply = client.call_tool("delete", json!({ "path": "/a", "depth": -1 })).await.unwrap();
    assert!(reply.is_error() && reply.text().contains("`depth`"), "{}", reply.text());
    assert!(reply.ran.concat().is_empty());
}

#[resolver]
fn total(sizes: &[u32], path: &str) -> u32 {
    let _ = path;
    sizes.iter().sum()
}

#[tokio::test]
async fn bad_arguments_are_reported_as_for_other_tools() {
    #[tool]
    fn sum(path: String, sizes: Vec<u32>) -> String {
        format!("{path} {sizes:?}")
    }
    let sizes = json!({ "sizes": { "type": "array" }, "path": { "type": "string" } });
    let client = Client::new(Server::new("r", "1").tools(tools![sum]).tools([plain(sizes).resolve::<total>()]));
    let mut problems = Vec::new();
    for tool in ["delete", "sum"] {
        let reply = client.call_tool(tool, json!({ "sizes": [1, "two"] })).await.unwrap();
        let mut lines: Vec<_> = reply.text().lines().map(str::to_owned).collect();
        lines.sort();
        problems.push(lines);
    }
    assert_eq!(problems[0], problems[1]);
    assert!(problems[0].iter().any(|line| line.starts_with("- `sizes[1]`: expected an integer")), "{problems:?}");
}

/// An argument whose reading goes wrong.
struct Mine;

impl<'de> serde::Deserialize<'de> for Mine {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("stepped on")
    }
}

impl schemars::JsonSchema for Mine {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Mine".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({})
    }
}

#[resolver]
fn step(mine: &Mine) -> u8 {
    let Mine = mine;
    0
}

#[tokio::test]
async fn an_argument_whose_type_panics_fails_its_call_alone() {
    let client = Client::new(Server::new("r", "1").tools([plain(json!({ "mine": {} })).resolve::<step>()]));
    in_both_eras(client, async |client| {
        for _ in 0..2 {
            let reply = client.call_tool("delete", json!({ "mine": 1 })).await;
            // On a session the model reads it.
            assert!(reply.map_or_else(|error| error.code() == Some(-32603), |reply| reply.is_error()));
        }
    })
    .await;
}

#[tokio::test]
async fn a_value_of_a_resolver_that_the_tool_does_not_have_is_a_mistake() {
    let client = Client::new(Server::new("r", "1").tools([plain(json!({}))]));
    let reply = client.call_tool("delete", json!({})).await.unwrap();
    assert_eq!(reply.text(), "the tool was not given the resolver `confirm`: add `.resolve::<confirm>()` to it");
}

#[test]
fn what_the_compiler_checks_for_functions_is_checked_when_the_server_is_built() {
    let unknown = mistakes(plain(json!({ "file": { "type": "string" }, "depth": {} })).resolve::<confirm>());
    let at = unknown.split_once('(').and_then(|(_, rest)| rest.split_once(')')).unwrap().0;
    assert!(at.contains("at_run_time.rs:"), "{at}");
    assert_eq!(
        unknown.replace(at, "here"),
        "the server cannot be built:\n  tool `delete`: resolver `confirm` (here) takes the tool's argument `path: &str`, \
         but tool `delete` has only `file: string`, `depth: any`: add the argument to the tool, or use the \
         name of the one that is meant"
    );
    let wrong = mistakes(plain(json!({ "path": { "type": "integer" }, "depth": {} })).resolve::<confirm>());
    assert!(wrong.contains("the argument `path` is a `integer`, but resolver `confirm` ("), "{wrong}");
    assert!(wrong.contains(") takes it as a `&str`"), "{wrong}");
}

#[test]
fn all_mistakes_are_reported_together_and_each_once() {
    let by_hand = Tool::dynamic(record(json!({ "mine": { "type": "string" } })), |_, _| async { Reply::done("done") });
    let problems = mistakes(by_hand.resolve::<size>().resolve::<confirm>().resolve::<whole>());
    let problems: Vec<&str> = problems.lines().skip(1).collect();
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(
        problems[0].contains("resolver `size` (") && problems[0].contains("argument `path: &str`"),
        "{problems:#?}"
    );
    assert!(
        problems[1].contains("resolver `size` (") && problems[1].contains("argument `depth: Option<u32>`"),
        "{problems:#?}"
    );
    assert!(
        problems[2].contains("resolver `confirm` (") && problems[2].contains("asks too: ask in one"),
        "{problems:#?}"
    );
    assert!(problems[3].contains("the argument `mine` is a `string`, but resolver `whole` ("), "{problems:#?}");
}

#[resolver]
fn whole(mine: bool) -> bool {
    mine
}

#[test]
fn e6_rounds_by_hand_beside_a_question_are_reported() {
    let by_hand = Tool::dynamic(record(json!({ "path": {}, "depth": {} })), |_, _| async { Reply::done("done") });
    let mistake = mistakes(by_hand.resolve::<confirm>());
    assert!(
        mistake.contains("tool `delete` makes its rounds by hand (`Rounds`, `Reply`), but resolver `confirm` ("),
        "{mistake}"
    );
}

#[test]
#[should_panic(expected = "tool `size_of` is a function: mark a parameter of it with `#[resolve(..)]`")]
fn a_function_names_its_resolvers_itself() {
    #[tool]
    fn size_of(path: String) -> usize {
        path.len()
    }
    let tool = tools![size_of].into_iter().next().unwrap();
    let _ = tool.resolve::<broken>();
}

#[resolver]
fn round(runs: Dep<Runs>) -> u32 {
    runs.count("round");
    runs.of("round")
}

#[tokio::test]
async fn each_round_that_is_made_by_hand_has_values_of_its_own() {
    for era in [Era::Stateless, Era::Session] {
        let called = AtomicU32::new(0);
        let tool = Tool::dynamic(record(json!({})), move |_, ctx| {
            let is_first = called.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                let round = *ctx.resolved::<round>()?;
                Ok::<_, CallError>(if is_first { Reply::resume(round) } else { Reply::done(round) })
            }
        });
        let server = Server::new("r", "1").provide(Runs::default()).tools([tool.resolve::<round>()]);
        assert_eq!(Client::new(server).era(era).call_tool("delete", json!({})).await.unwrap().text(), "2", "{era:?}");
    }
}
