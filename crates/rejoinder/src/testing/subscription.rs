use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::exchange::ClientExchange;

/// The changes to subscribe to; none by default.
///
/// ```
/// use rejoinder::testing::Filter;
///
/// let filter = Filter::default().tools().resource("note://welcome");
/// assert!(filter.tools_list_changed);
/// ```
#[must_use]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Filter {
    /// The list of tools.
    pub tools_list_changed: bool,
    /// The list of prompts.
    pub prompts_list_changed: bool,
    /// The lists of resources and templates.
    pub resources_list_changed: bool,
    /// The contents of these resources.
    pub resource_subscriptions: Vec<String>,
    /// The tasks with these ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_ids: Vec<String>,
}

impl Filter {
    /// Adds changes to the list of tools.
    pub fn tools(self) -> Self {
        Self { tools_list_changed: true, ..self }
    }

    /// Adds changes to the list of prompts.
    pub fn prompts(self) -> Self {
        Self { prompts_list_changed: true, ..self }
    }

    /// Adds changes to the lists of resources and templates.
    pub fn resources(self) -> Self {
        Self { resources_list_changed: true, ..self }
    }

    /// Adds changes to the contents of a resource.
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.push(uri.into());
        self
    }

    /// Adds changes of a task.
    pub fn task(mut self, id: impl Into<String>) -> Self {
        self.task_ids.push(id.into());
        self
    }
}

/// A change that the server reported.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// The list of tools changed.
    ToolsChanged,
    /// The list of prompts changed.
    PromptsChanged,
    /// The list of resources or of templates changed.
    ResourcesChanged,
    /// The contents of the resource at that URI changed.
    ResourceUpdated(String),
    /// A task has changed: as `tasks/get` shows it now.
    Task(Value),
    /// Any other notification.
    Other(Value),
}

/// An open subscription; dropping it ends it.
#[derive(Debug)]
pub struct Subscription {
    exchange: ClientExchange,
    honoured: Filter,
}

impl Subscription {
    pub(super) fn new(exchange: ClientExchange, honoured: Filter) -> Self {
        Self { exchange, honoured }
    }

    /// The filter that the server acknowledged.
    pub fn honoured(&self) -> &Filter {
        &self.honoured
    }

    /// Waits for the next notification; `None` when the server has ended the subscription.
    pub async fn next(&mut self) -> Option<Notification> {
        let message = self.exchange.next().await.ok().flatten()?;
        message.get("method").is_some().then(|| notification(message))
    }

    /// The next notification, if it has arrived.
    pub fn try_next(&mut self) -> Option<Notification> {
        self.next().now_or_never().flatten()
    }
}

fn notification(message: Value) -> Notification {
    match (message["method"].as_str(), message["params"]["uri"].as_str()) {
        (Some("notifications/tools/list_changed"), _) => Notification::ToolsChanged,
        (Some("notifications/prompts/list_changed"), _) => Notification::PromptsChanged,
        (Some("notifications/resources/list_changed"), _) => Notification::ResourcesChanged,
        (Some("notifications/resources/updated"), Some(uri)) => Notification::ResourceUpdated(uri.to_owned()),
        (Some("notifications/tasks"), _) => {
            let mut message = message;
            Notification::Task(message["params"].take())
        }
        _ => Notification::Other(message),
    }
}
