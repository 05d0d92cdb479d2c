//! Which tools a server offers to all callers.

use rejoinder::{
    prelude::*,
    testing::{Client, in_both_eras},
};
use serde_json::json;

use crate::gates::fixture::{everyday_tool, gold_tool};

#[tool(read_only, tags = ["files", "safe"])]
async fn read() -> &'static str {
    "text"
}

#[tool(tags = ["files"])]
async fn write() {}

#[tool(read_only = false)]
async fn remove() {}

fn server() -> Server {
    Server::new("files", "1").tools(tools![read, write, remove]).nest("more", tools![read])
}

#[tokio::test]
async fn filters_narrow_what_is_offered() {
    for (what, server, expected) in [
        ("nothing", server(), &["read", "write", "remove", "more_read"][..]),
        ("allow", server().allow_tools(["write", "more_read"]), &["write", "more_read"]),
        ("allow twice", server().allow_tools(["write", "read"]).allow_tools(["read"]), &["read"]),
        ("allow none", server().allow_tools([""; 0]), &[]),
        ("deny", server().deny_tools(["write"]).deny_tools(["read"]), &["remove", "more_read"]),
        ("deny wins", server().allow_tools(["read", "write"]).deny_tools(["read"]), &["write"]),
        ("tags", server().only_tagged(["files"]), &["read", "write", "more_read"]),
        ("any of the tags", server().only_tagged(["safe", "files"]), &["read", "write", "more_read"]),
        ("both tags", server().only_tagged(["safe"]).only_tagged(["files"]), &["read", "more_read"]),
        ("read-only", server().only_read_only(), &["read", "more_read"]),
    ] {
        in_both_eras(Client::new(server), async |client| {
            let names: Vec<_> = client.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
            assert_eq!(names, expected, "{what}");
            for name in ["read", "write", "remove", "more_read"] {
                assert_eq!(client.call_tool(name, json!({})).await.is_ok(), expected.contains(&name), "{what}: {name}");
            }
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_filtered_out_does_not_exist() {
    let client = Client::new(server().deny_tools(["write"]));
    let error = client.call_tool("wrte", json!({})).await.unwrap_err();
    assert_eq!(error.rpc().unwrap().message, "there is no tool `wrte`", "it is not proposed");
    // Not later, either.
    let handle = client.server().handle();
    handle.add_tools(tools![write]).unwrap();
    assert!(client.call_tool("write", json!({})).await.is_err());
    assert!(!server().deny_tools(["write"]).graph().to_string().contains("write"));
}

/// A tool that is not offered needs no services.
#[test]
fn what_is_filtered_out_is_not_checked() {
    struct Missing;
    #[tool]
    async fn needy(_missing: Dep<Missing>) {}
    let server = || Server::new("files", "1").tools(tools![everyday_tool, needy]);
    assert!(server().check().is_err());
    assert!(server().allow_tools(["everyday_tool"]).check().is_ok());
}

#[test]
fn a_name_that_no_tool_has_is_an_error() {
    let error = server().allow_tools(["raed"]).deny_tools(["nothing"]).only_tagged(["file"]).check().unwrap_err();
    let problems: Vec<_> = error.0.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "`Server::allow_tools`: there is no tool `raed`; did you mean `read`?",
            "`Server::deny_tools`: there is no tool `nothing`",
            "`Server::only_tagged`: no tool has the tag `file`; did you mean `files`?",
        ]
    );
}

#[tokio::test]
async fn tags_of_run_time_count() {
    let record = rejoinder::model::Tool::new("made", "Made at run time.", rejoinder::model::JsonObject::new());
    let made = rejoinder::Tool::dynamic(record, |_, _| async { "made" }).tagged("files");
    let client = Client::new(server().tools([made]).only_tagged(["files"]));
    assert_eq!(client.call_tool("made", json!({})).await.unwrap().text(), "made");
}

/// Filters and gates work together.
#[tokio::test]
async fn a_tool_that_is_allowed_keeps_its_gate() {
    let server = Server::new("both", "1").tools(tools![everyday_tool, gold_tool]).allow_tools(["gold_tool"]);
    let client = Client::new(server);
    assert_eq!(client.list_tools().await.unwrap().len(), 0);
    assert_eq!(client.header("x-plan", "pro").list_tools().await.unwrap().len(), 1);
}
