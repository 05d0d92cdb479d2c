use std::error::Error;

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceError, ServiceExt,
    model::{
        CallToolRequestParams, GetPromptRequestParams, ProgressNotificationParam, ProtocolVersion,
        ReadResourceRequestParams, ResourceUpdatedNotificationParam, SubscribeRequestParams, SubscriptionFilter,
    },
    service::{NotificationContext, RunningService},
    transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{
    process::Command,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use crate::{
    seen::{Era, check},
    tour::{COMMAND, Tour, bounded},
};

/// Forwards the server's notifications.
struct Listener {
    progress: UnboundedSender<ProgressNotificationParam>,
    updated: UnboundedSender<String>,
}

impl ClientHandler for Listener {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // The receiver is gone once the test is over.
        let _ = self.progress.send(progress);
    }

    async fn on_resource_updated(&self, updated: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.updated.send(updated.uri);
    }
}

/// A client that is connected.
struct Client {
    era: Era,
    service: RunningService<RoleClient, Listener>,
    progress: UnboundedReceiver<ProgressNotificationParam>,
    updated: UnboundedReceiver<String>,
}

impl Client {
    async fn connect<T, E, A>(era: Era, transport: T) -> Self
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        let (progress_sender, progress) = unbounded_channel();
        let (updated_sender, updated) = unbounded_channel();
        let listener = Listener { progress: progress_sender, updated: updated_sender };
        let service = match era {
            Era::Session => listener.serve(transport).await,
            Era::Stateless => {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
                listener.serve_with_lifecycle(transport, lifecycle).await
            }
        };
        Self { era, service: service.expect("the client connects"), progress, updated }
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> Result<Value, ServiceError> {
        let arguments = arguments.as_object().expect("an object").clone();
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        self.service.call_tool(call).await.map(wire)
    }

    async fn read(&self, uri: &str) -> Result<Value, ServiceError> {
        let read = self.service.read_resource(ReadResourceRequestParams::new(uri)).await.map(wire)?;
        Ok(each(&read["contents"], |part| json!([part["uri"], part["mimeType"], part["text"]])))
    }

    /// Reports may be handled after the result that they came before, and in any order: each has its own task.
    async fn reports(&mut self, count: usize) -> Vec<Value> {
        let mut reports = Vec::new();
        while reports.len() < count {
            reports.push(self.progress.recv().await.expect("a report"));
        }
        reports.sort_by(|one, other| one.progress.total_cmp(&other.progress));
        reports.into_iter().map(|report| json!([report.progress, report.total, report.message])).collect()
    }

    /// Writes a note and waits for the notification: the result of the tool, and the resource that was updated.
    async fn write(&mut self, note: Value) -> Result<[Value; 2], ServiceError> {
        const URI: &str = "note://to-do";
        match self.era {
            Era::Stateless => {
                let filter = SubscriptionFilter::builder().resource_subscription(URI).build();
                let mut subscription = self.service.listen(filter).await?;
                let written = self.call("write_note", note).await?;
                let notification = wire(subscription.next().await?);
                subscription.cancel().await?;
                Ok([text(&written), notification["params"]["uri"].clone()])
            }
            Era::Session => {
                #[expect(deprecated, reason = "sessions know no other way")]
                self.service.subscribe(SubscribeRequestParams::new(URI)).await?;
                let written = self.call("write_note", note).await?;
                Ok([text(&written), self.updated.recv().await.into()])
            }
        }
    }

    async fn see(&mut self) -> Result<Value, ServiceError> {
        let server = wire(self.service.peer_info());
        let tools = wire(self.service.list_all_tools().await?);
        let properties = tools[0]["inputSchema"]["properties"].as_object().expect("properties");
        let described = properties.iter().map(|(name, schema)| (name.clone(), schema["description"].clone()));
        let arguments: serde_json::Map<String, Value> = described.collect();
        let prompts = wire(self.service.list_all_prompts().await?);
        let resources = wire(self.service.list_all_resources().await?);
        let templates = wire(self.service.list_all_resource_templates().await?);

        let added = self.call("add", json!({ "a": 1, "b": 2 })).await?;
        let refused = self.call("add", json!({ "a": "one", "c": 2 })).await?;
        let counted = self.call("count_to", json!({ "number": 3 })).await?;
        let progress = self.reports(3).await;
        let rolled = self.call("roll", json!({ "dice": 3 })).await?["structuredContent"].clone();
        let dice = rolled["dice"].as_array().expect("dice");
        let total: u64 = dice.iter().filter_map(Value::as_u64).sum();

        let review = json!({ "code": "x = 1", "tone": "strict" }).as_object().expect("an object").clone();
        let review = GetPromptRequestParams::new("review").with_arguments(review);
        let reviewed = wire(self.service.get_prompt(review).await?);

        let [written, updated] = self.write(json!({ "name": "to-do", "text": "write tests" })).await?;

        Ok(json!({
            "version": server["protocolVersion"],
            "server": server["serverInfo"]["name"],
            "instructions": server["instructions"],
            "tools": each(&tools, |tool| tool["name"].clone()),
            "arguments of add": arguments,
            "prompts": each(&prompts, |prompt| prompt["name"].clone()),
            "resources": each(&resources, |resource| resource["uri"].clone()),
            "templates": each(&templates, |template| template["uriTemplate"].clone()),
            "add": [text(&added), failed(&added)],
            "add with bad arguments": [text(&refused), failed(&refused)],
            "count_to": text(&counted),
            "progress": progress,
            "roll": { "dice": dice.len(), "adds up": rolled["total"] == total },
            "review": each(&reviewed["messages"], |message| json!([message["role"], message["content"]["text"]])),
            "welcome": self.read("note://welcome").await?,
            "write_note": written,
            "updated": updated,
            "written": self.read("note://to-do").await?,
            "completion": self.service.complete_resource_simple("note://{name}", "name", "we").await?,
            "unknown tool": error(self.call("no_such_tool", json!({})).await),
            "unknown note": error(self.read("note://lost").await),
            "after errors": text(&self.call("add", json!({ "a": 2, "b": 2 })).await?),
        }))
    }
}

/// What the client made of a reply, as JSON.
fn wire(reply: impl Serialize) -> Value {
    serde_json::to_value(reply).expect("JSON")
}

fn each(list: &Value, pick: impl Fn(&Value) -> Value) -> Value {
    list.as_array().expect("a list").iter().map(pick).collect()
}

fn text(result: &Value) -> Value {
    result["content"][0]["text"].clone()
}

fn failed(result: &Value) -> bool {
    result["isError"].as_bool().unwrap_or_default()
}

fn error(outcome: Result<Value, ServiceError>) -> Value {
    match outcome {
        Err(ServiceError::McpError(error)) => json!({ "code": error.code.0, "message": error.message }),
        other => panic!("not the server's error: {other:?}"),
    }
}

async fn see<T, E, A>(era: Era, transport: T)
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let seen = bounded(async {
        let mut client = Client::connect(era, transport).await;
        let seen = client.see().await.expect("every request is answered");
        client.service.cancel().await.expect("the client leaves");
        seen
    });
    check(era, &seen.await);
}

/// The tour as a child of the client.
fn child() -> TokioChildProcess {
    let mut command = Command::new(COMMAND);
    command.arg("--stdio").kill_on_drop(true);
    TokioChildProcess::new(command).expect("the tour starts")
}

#[tokio::test]
async fn stateless_over_stdio() {
    see(Era::Stateless, child()).await;
}

#[tokio::test]
async fn session_over_stdio() {
    see(Era::Session, child()).await;
}

#[tokio::test]
async fn stateless_over_http() {
    let tour = bounded(Tour::start()).await;
    see(Era::Stateless, StreamableHttpClientTransport::from_uri(tour.url.as_str())).await;
}

#[tokio::test]
async fn session_over_http() {
    let tour = bounded(Tour::start()).await;
    see(Era::Session, StreamableHttpClientTransport::from_uri(tour.url.as_str())).await;
}
