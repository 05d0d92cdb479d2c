use crate::call::Era;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Client, Error, Result, exchange::Exchange, reply::read};

/// What a subscriber wants to hear of; nothing, to begin with.
///
/// ```
/// use rejoinder::testing::Filter;
///
/// let filter = Filter::default().tools().resource("note://welcome");
/// assert!(filter.tools_list_changed);
/// ```
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
}

impl Filter {
    /// And of changes to the list of tools.
    #[must_use]
    pub fn tools(self) -> Self {
        Self { tools_list_changed: true, ..self }
    }

    /// And of changes to the list of prompts.
    #[must_use]
    pub fn prompts(self) -> Self {
        Self { prompts_list_changed: true, ..self }
    }

    /// And of changes to the lists of resources and templates.
    #[must_use]
    pub fn resources(self) -> Self {
        Self { resources_list_changed: true, ..self }
    }

    /// And of changes to the contents of a resource.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.push(uri.into());
        self
    }
}

/// Something that a server told a subscriber.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// The list of tools is another one now.
    ToolsChanged,
    /// The list of prompts is another one now.
    PromptsChanged,
    /// The lists of resources and templates are others now.
    ResourcesChanged,
    /// The resource at that URI has other contents now.
    ResourceUpdated(String),
    /// Anything else, as it came.
    Other(Value),
}

/// An open subscription; dropping it ends it.
#[derive(Debug)]
pub struct Subscription {
    exchange: Exchange,
    honoured: Filter,
}

impl Client {
    /// Subscribes to changes.
    ///
    /// # Errors
    ///
    /// If the server refuses, or does not begin with saying what it will tell.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::{Client, Filter, Notification}};
    ///
    /// /// Buy what is left.
    /// #[tool]
    /// fn buy() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![buy]));
    /// let mut subscription = client.listen(Filter::default().tools()).await?;
    /// client.server().handle().remove_tool("buy");
    /// assert_eq!(subscription.next().await, Some(Notification::ToolsChanged));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn listen(&self, filter: Filter) -> Result<Subscription> {
        if self.era == Era::Session {
            // There is one stream for all, and it tells everything but the contents of resources unasked.
            let exchange = self.session_stream().await?;
            for uri in &filter.resource_subscriptions {
                self.request("resources/subscribe", json!({ "uri": uri })).await?;
            }
            return Ok(Subscription { exchange, honoured: filter });
        }
        const METHOD: &str = "subscriptions/listen";
        let mut exchange = self.open(METHOD, json!({ "notifications": filter })).await?;
        let first = exchange.next().await?.ok_or_else(|| Error::NoReply { method: METHOD.into() })?;
        if first["method"] == "notifications/subscriptions/acknowledged" {
            let honoured = read(METHOD, &first["params"]["notifications"])?;
            return Ok(Subscription { exchange, honoured });
        }
        Err(match first.get("error") {
            Some(_) => exchange.error(first),
            None => Error::unexpected(METHOD, "a subscription begins with its acknowledgement", &first),
        })
    }
}

impl Subscription {
    /// What the server said it will tell.
    pub fn honoured(&self) -> &Filter {
        &self.honoured
    }

    /// The next notification, once it is there; `None` when the server has ended the subscription.
    pub async fn next(&mut self) -> Option<Notification> {
        let message = self.exchange.next().await.ok().flatten()?;
        message.get("method").is_some().then(|| notification(message))
    }

    /// The next notification, if it is there already.
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
        _ => Notification::Other(message),
    }
}
