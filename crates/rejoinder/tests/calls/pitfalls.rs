//! The pitfalls of parameter injection and of gates: how frameworks get them wrong, and a test for each that shows that it
//! does not happen here.
//!
//! A test, or a program that must not compile, is named after its number, `l13_..` or `o4_..`, and stands beside the
//! feature that it is about. Those that belong nowhere else are here.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{collections::BTreeSet, fs, path::Path};

use rejoinder::{
    call::Level,
    form::ConfirmForm,
    model::{ContentBlock, Resource as ResourceLink},
    prelude::*,
    reply::Audio,
    testing::{Client, Transport, in_both_eras},
};
use serde_json::json;

/// What goes wrong elsewhere with injection: `l1` and so on.
const INJECTION: [&str; 27] = [
    "an injected parameter is in the schema, and the client sets it",
    "a default makes a constraint or a pipe do nothing",
    "a transaction is rolled back although the call succeeds",
    "the complete example of the documentation does not run",
    "a type that is not found turns an injected parameter into one of the client's",
    "background tasks delay the reply, and their handles do nothing",
    "pipes of headers do not run, and a bad header is silently its default",
    "constraints are not enforced on resources",
    "prompts get no injection",
    "arguments are neither read into their types nor checked",
    "a refused caller still opens a transaction",
    "one connection handles one request at a time, so a question is never answered",
    "a cancellation is ignored, or cancels the call of another client",
    "a call does not hear that it was cancelled",
    "two types of one name share one state",
    "a client that leaves does not end its call",
    "the second subscriber replaces the first",
    "a pipe has neither progress nor logs nor questions, and a long line ends the server",
    "the first event of HTTP+SSE is not a URL",
    "progress begins at zero, never reaches its total, and quotes its text",
    "functions that are not async, and dependencies of dependencies, do not work",
    "an application has one server, and its options are ignored",
    "the text of an internal error reaches the client",
    "audio and links become text, and lists have no pages",
    "neither Host nor Origin is checked, and no session needs `initialize`",
    "an optional argument cannot have constraints",
    "a check that cannot run lets everybody pass",
];

/// What goes wrong elsewhere with gates and around them: `o1` and so on.
const GATES: [&str; 18] = [
    "a tool with an injected parameter breaks the list, and with it the session",
    "a parameter for the context cannot be registered",
    "what the client sends replaces what is injected",
    "a gate that needs another function is always open",
    "a gate that fails breaks the whole list, and calls of other tools",
    "one login unlocks what is gated for everybody",
    "the public description of the server names what is gated",
    "a cycle of dependencies ends in a stack overflow",
    "gates run twice for a call of what is hidden",
    "schemas refer to definitions that were removed",
    "a tool with an unlucky name breaks the server",
    "an unknown resource is an empty success",
    "a blocking tool stops the server, and the text of internal errors reaches the client",
    "progress goes backwards and loses its end",
    "the logs of one client reach another",
    "sampling that has failed cannot be used again",
    "a test cannot replace a dependency",
    "neither Host nor Origin is checked",
];

/// The numbers in the names of the tests, and of the programs that must not compile, below a folder.
fn numbered(folder: &Path, found: &mut BTreeSet<(char, usize)>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("target") {
            numbered(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names =
                text.lines().filter_map(|line| line.trim_start().trim_start_matches("async ").strip_prefix("fn "));
            for name in names.chain(path.file_stem().and_then(|name| name.to_str())) {
                // Such as `c54_o14_..`: a test may show several things.
                let numbers = name.split('_').map_while(|part| {
                    let list = part.chars().next()?;
                    Some((list, part.strip_prefix(list)?.parse().ok()?))
                });
                found.extend(numbers);
            }
        }
    }
}

#[test]
fn every_pitfall_has_a_test_that_is_named_after_it() {
    let mut found = BTreeSet::new();
    for folder in ["crates", "examples"] {
        numbered(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut found);
    }
    for (list, pitfalls) in [('l', &INJECTION[..]), ('o', &GATES)] {
        let missing: Vec<_> = (1..).zip(pitfalls).filter(|(number, _)| !found.contains(&(list, *number))).collect();
        assert!(missing.is_empty(), "no test is named after these of `{list}`: {missing:#?}");
    }
}

#[pipe]
fn double(number: u32) -> u32 {
    number * 2
}

#[tool]
async fn doubled(
    #[arg(default = 4, min = 1, max = 5)]
    #[pipe(double)]
    number: u32,
) -> u32 {
    number
}

#[tokio::test]
async fn l2_a_default_is_in_the_schema_and_passes_through_pipes_beside_constraints() {
    in_both_eras(Client::new(Server::new("defaults", "1.0.0").tools(tools![doubled])), async |client| {
        let schema = &client.list_tools().await.unwrap()[0].input_schema;
        let number = &schema["properties"]["number"];
        assert_eq!((&number["default"], &number["minimum"], &number["maximum"]), (&json!(4), &json!(1), &json!(5)));
        for (arguments, result) in [(json!({}), "8"), (json!({ "number": 5 }), "10")] {
            assert_eq!(client.call_tool("doubled", arguments).await.unwrap().text(), result);
        }
        assert!(client.call_tool("doubled", json!({ "number": 6 })).await.unwrap().is_error());
    })
    .await;
}

#[tokio::test]
async fn l5_what_is_defined_inside_a_function_is_injected_and_checked_as_anything_else() {
    struct Database(&'static str);

    #[resolver]
    fn database() -> Database {
        Database("ours")
    }

    #[tool]
    async fn rows(#[arg(max = 10)] limit: u32, #[resolve(database)] database: &Database) -> String {
        format!("{limit} of {}", database.0)
    }

    in_both_eras(Client::new(Server::new("local", "1.0.0").tools(tools![rows])), async |client| {
        assert_eq!(client.call_tool("rows", json!({ "limit": 10 })).await.unwrap().text(), "10 of ours");
        for arguments in [json!({ "limit": 11 }), json!({ "limit": 1, "database": "theirs" })] {
            assert!(client.call_tool("rows", arguments.clone()).await.unwrap().is_error(), "{arguments}");
        }
    })
    .await;
}

#[tool]
async fn talk(text: String, ctx: Context) -> Result<usize, CallError> {
    ctx.progress(1.0).total(1.0).message("half").await;
    ctx.info("said").await;
    ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok(text.len())
}

#[tokio::test]
async fn l18_a_pipe_has_progress_logs_questions_and_long_lines() {
    let server = Server::new("talks", "1.0.0").tools(tools![talk]);
    let client = Client::new(server).transport(Transport::Stdio).log_level(Level::Info);
    in_both_eras(client.answer("sure", ConfirmForm { yes: true }), async |client| {
        let reply = client.call_tool("talk", json!({ "text": "x".repeat(1_000_000) })).await.unwrap();
        assert_eq!(reply.text(), "1000000");
        assert_eq!(reply.asked, [["sure"]]);
        assert_eq!(reply.progress.last().unwrap().message.as_deref(), Some("half"));
        assert_eq!(reply.logs.last().unwrap().data, "said");
    })
    .await;
}

#[tool]
async fn sounds() -> Vec<ContentBlock> {
    let link = ContentBlock::ResourceLink(ResourceLink::new("sound://rain", "rain"));
    vec![Audio::new("audio/wav", b"RIFF\0").into(), link]
}

#[resource("sound://{name}")]
async fn sound(name: String) -> String {
    name
}

#[resource("score://{name}")]
async fn score(name: String) -> String {
    name
}

#[tokio::test]
async fn l24_audio_and_links_stay_what_they_are_and_lists_have_pages() {
    let server = Server::new("sounds", "1.0.0").tools(tools![sounds]).resources(resources![sound, score]).page_size(1);
    in_both_eras(Client::new(server), async |client| {
        let reply = client.call_tool("sounds", json!({})).await.unwrap();
        let content = json!(reply.result.content);
        assert_eq!((&content[0]["type"], &content[1]["type"]), (&json!("audio"), &json!("resource_link")));
        assert_eq!(client.list_resource_templates().await.unwrap().len(), 2);
        let page = client.request("resources/templates/list", json!({})).await.unwrap();
        assert!(page["nextCursor"].is_string());
    })
    .await;
}
