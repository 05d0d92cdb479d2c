//! rmcp's client, which records what the server sends.

#![expect(deprecated, reason = "log messages are deprecated in the protocol, and still part of it")]

use std::sync::{Arc, Mutex};

use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResult, ErrorData, JsonObject, LoggingMessageNotificationParam,
        ProgressNotificationParam, ResourceUpdatedNotificationParam,
    },
    service::{NotificationContext, RunningService, ServiceError},
};
use serde_json::{Value, json};

use super::{fixture::Fixture, pipe::serve_pipe};

/// Everything that the server sent, in order.
#[derive(Debug, Default, Clone)]
pub(super) struct Received(Arc<Mutex<Vec<Value>>>);

impl Received {
    fn note(&self, what: Value) {
        self.0.lock().expect("nobody panics").push(what);
    }

    pub(super) fn all(&self) -> Vec<Value> {
        self.0.lock().expect("nobody panics").clone()
    }

    pub(super) fn has(&self, what: &str) -> bool {
        self.all().iter().any(|received| received == what)
    }
}

impl ClientHandler for Received {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.note(json!([params.progress, params.message]));
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.note(params.data);
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.note(params.uri.into());
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note("tools".into());
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note("prompts".into());
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note("resources".into());
    }
}

/// A client of its own session.
pub(super) struct Client {
    pub(super) peer: RunningService<RoleClient, Received>,
    pub(super) received: Received,
}

impl Client {
    /// Opens a session over a pipe.
    pub(super) async fn connect(fixture: &Fixture) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(serve_pipe(fixture.engine(), reader, writer));
        let received = Received::default();
        let peer = received.clone().serve(near).await.expect("a session");
        Self { peer, received }
    }

    pub(super) async fn call(&self, tool: &'static str, arguments: Value) -> Result<CallToolResult, ErrorData> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        rpc(self.peer.call_tool(params(tool, arguments)).await)
    }

    /// The text of a tool's reply, which is not an error.
    pub(super) async fn text(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await.expect("a result");
        assert_ne!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }
}

pub(super) fn params(tool: &'static str, arguments: JsonObject) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

pub(super) fn text(result: &CallToolResult) -> String {
    result.content[0].as_text().expect("text").text.clone()
}

pub(super) fn rpc<T>(result: Result<T, ServiceError>) -> Result<T, ErrorData> {
    result.map_err(|error| match error {
        ServiceError::McpError(error) => error,
        other => panic!("{other:?}"),
    })
}
