use crate::model::{DiscoverResult, Prompt, Resource, ResourceTemplate, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Client, Error, Result, reply::read};

impl Client {
    /// What the server says of itself.
    ///
    /// # Errors
    ///
    /// If the server refuses, or its answer is not what the protocol says.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
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

    /// All tools, whatever number of pages they take.
    ///
    /// # Errors
    ///
    /// If the server refuses, or its answer is not what the protocol says.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// #[tool]
    /// async fn first() {}
    /// #[tool]
    /// async fn second() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![first, second]).page_size(1));
    /// assert_eq!(client.list_tools().await?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_tools(&self) -> Result<Vec<Tool>> {
        self.list("tools/list", "tools").await
    }

    /// All prompts, whatever number of pages they take.
    ///
    /// # Errors
    ///
    /// If the server refuses, or its answer is not what the protocol says.
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>> {
        self.list("prompts/list", "prompts").await
    }

    /// All resources, whatever number of pages they take.
    ///
    /// # Errors
    ///
    /// If the server refuses, or its answer is not what the protocol says.
    pub async fn list_resources(&self) -> Result<Vec<Resource>> {
        self.list("resources/list", "resources").await
    }

    /// All resource templates, whatever number of pages they take.
    ///
    /// # Errors
    ///
    /// If the server refuses, or its answer is not what the protocol says.
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>> {
        self.list("resources/templates/list", "resourceTemplates").await
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
                return Err(Error::unexpected(method, "the pages go round in a circle", &cursor));
            }
            params = json!({ "cursor": cursor });
            seen.push(cursor);
        }
    }
}
