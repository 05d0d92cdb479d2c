//! The graph of a server, as text and as a Mermaid flowchart.

use rejoinder::{Tool, model, prelude::*};
use serde_json::json;

struct Files;

#[resolver]
fn size(path: &str, files: Dep<Files>) -> u64 {
    let _ = files;
    path.len() as u64
}

#[resolver(key = "sure")]
fn confirm(path: &str, #[resolve(size)] size: u64) -> Ask<bool> {
    Ask::confirm(format!("Delete {path}, of {size} bytes?"))
}

#[tool]
async fn delete(path: String, #[resolve(confirm)] sure: bool, #[resolve(size)] size: &u64, ctx: Context) -> String {
    format!("{path} {sure} {size} {:?}", ctx.era())
}

#[resource("files://{path}")]
async fn file(path: String) -> String {
    path
}

fn server() -> Server {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let record = model::Tool::new("echo", "Say it again.", schema.as_object().cloned().unwrap_or_default());
    Server::new("files", "1.0.0")
        .provide(Files)
        .tools(tools![delete])
        .tools([Tool::dynamic(record, |_, _| async { "again" })])
        .resources(resources![file])
}

#[test]
fn as_text() {
    insta::assert_snapshot!(server().graph());
}

#[test]
fn as_a_picture() {
    insta::assert_snapshot!(server().graph().mermaid());
}

#[test]
fn a_built_server_shows_its_current_items() {
    let server = server().build().expect("a good server");
    server.handle().remove_tool("delete");
    assert!(server.graph().to_string().starts_with("tool echo\n└─ text: string  argument\n"), "{}", server.graph());
}
