//! What a server offers: lists, completions, and subscriptions to their changes.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Client, ClientError, Filter, Result, Subscription, response::read};
use crate::{
    call::CallTrace,
    model::{CompletionInfo, DiscoverResult, Prompt, Reference, Resource, ResourceTemplate, Tool},
    request::Era,
};

impl Client {
    /// Requests values for an argument that begin with what was typed.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    ///
    /// ```
    /// # use rejoinder::{call::CompletionRequest, model::Reference, prelude::*, testing::Client};
    /// #[completion]
    /// async fn languages(_: CompletionRequest) -> Vec<String> { vec!["rust".into()] }
    ///
    /// #[prompt]
    /// async fn review(#[arg(complete = languages)] language: String) -> String { language }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("reviews", "1.0.0").prompts(prompts![review]));
    /// let completion = client.complete(Reference::prompt("review"), "language", "r").await?;
    /// assert_eq!(completion.values, ["rust"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn complete(&self, of: Reference, argument: &str, typed: &str) -> Result<CompletionInfo> {
        self.complete_with(of, argument, typed, json!({})).await
    }

    /// [`Client::complete`] when other arguments, an object of strings, have been filled in already.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    ///
    /// ```
    /// # use rejoinder::{call::CompletionRequest, model::Reference, prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[completion]
    /// async fn rooms(request: CompletionRequest) -> Vec<String> {
    ///     request.arguments.get("house").map(|house| format!("{house} kitchen")).into_iter().collect()
    /// }
    ///
    /// #[resource("home://{house}/{room}")]
    /// async fn room(house: String, #[arg(complete = rooms)] room: String) -> String { format!("{house} {room}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("home", "1.0.0").resources(resources![room]));
    /// let template = Reference::resource("home://{house}/{room}");
    /// let completion = client.complete_with(template, "room", "", json!({ "house": "red" })).await?;
    /// assert_eq!(completion.values, ["red kitchen"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn complete_with(
        &self,
        of: Reference,
        argument: &str,
        typed: &str,
        arguments: Value,
    ) -> Result<CompletionInfo> {
        let argument = json!({ "name": argument, "value": typed });
        let params = json!({ "ref": of, "argument": argument, "context": { "arguments": arguments } });
        let result = self.request("completion/complete", params).await?;
        read("completion/complete", &result["completion"])
    }

    /// The server's capabilities, name and instructions.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").instructions("Buy something.").tools([]));
    /// let discovered = client.discover().await?;
    /// assert_eq!(discovered.instructions.as_deref(), Some("Buy something."));
    /// assert!(discovered.capabilities.tools.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn discover(&self) -> Result<DiscoverResult> {
        read("server/discover", &self.request("server/discover", json!({})).await?)
    }

    /// All tools, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// #[tool]
    /// async fn first() {}
    /// #[tool]
    /// async fn second() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![first, second]).page_size(1));
    /// assert_eq!(client.list_tools().await?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_tools(&self) -> Result<Vec<Tool>> {
        self.list("tools/list", "tools").await
    }

    /// All prompts, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>> {
        self.list("prompts/list", "prompts").await
    }

    /// All resources, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    pub async fn list_resources(&self) -> Result<Vec<Resource>> {
        self.list("resources/list", "resources").await
    }

    /// All resource templates, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// Subscribes to changes.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or does not acknowledge the subscription.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::{Client, Filter, Notification}};
    ///
    /// /// Buy what is left.
    /// #[tool]
    /// fn buy() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![buy]));
    /// let mut subscription = client.listen(Filter::default().tools()).await?;
    /// client.server().handle().remove_tool("buy");
    /// assert_eq!(subscription.next().await, Some(Notification::ToolsChanged));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn listen(&self, filter: Filter) -> Result<Subscription> {
        if self.connection.era == Era::Session {
            // A session has one stream, which reports all changes of lists without a subscription.
            let exchange = self.connection.session_stream().await?;
            for uri in &filter.resource_subscriptions {
                self.request("resources/subscribe", json!({ "uri": uri })).await?;
            }
            return Ok(Subscription::new(exchange, filter));
        }
        const METHOD: &str = "subscriptions/listen";
        let mut exchange =
            self.connection.open(METHOD, json!({ "notifications": filter }), CallTrace::default()).await?;
        let first = exchange.next().await?.unwrap_or_default();
        if first["method"] != "notifications/subscriptions/acknowledged" {
            return Err(exchange.error(first));
        }
        let honoured = read(METHOD, &first["params"]["notifications"])?;
        Ok(Subscription::new(exchange, honoured))
    }

    async fn list<T: DeserializeOwned>(&self, method: &str, field: &str) -> Result<Vec<T>> {
        let (mut items, mut seen) = (Vec::new(), Vec::new());
        let mut params = json!({});
        loop {
            let mut page = self.request(method, params).await?;
            items.extend(read::<Vec<T>>(method, &page[field])?);
            let cursor = match page["nextCursor"].take() {
                Value::Null => return Ok(items),
                cursor => cursor,
            };
            if seen.contains(&cursor) {
                return Err(ClientError::unexpected(method, format_args!("the same cursor came twice: {cursor}")));
            }
            params = json!({ "cursor": cursor });
            seen.push(cursor);
        }
    }
}
