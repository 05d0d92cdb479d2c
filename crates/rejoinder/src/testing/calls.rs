use crate::model::{CallToolResult, CompletionInfo, GetPromptResult, ReadResourceResult, Reference};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Client, Reply, Result, answers::Rounds, reply::read, stateless::object};

impl Client {
    /// Calls a tool, and asks it for progress.
    ///
    /// # Errors
    ///
    /// If the server refuses. A tool that fails is a reply that [says so](Reply::is_error).
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[tool]
    /// async fn half(number: i64) -> Result<i64, CallError> {
    ///     if number % 2 == 0 { Ok(number / 2) } else { Err(CallError::new("give an even number")) }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("calculator", "1.0.0").tools(tools![half]));
    /// assert_eq!(client.call_tool("half", json!({ "number": 4 })).await?.text(), "2");
    /// let reply = client.call_tool("half", json!({ "number": 5 })).await?;
    /// assert!(reply.is_error());
    /// assert_eq!(reply.text(), "give an even number");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_tool(&self, tool: &str, arguments: Value) -> Result<Reply<CallToolResult>> {
        self.run("tools/call", json!({ "name": tool, "arguments": object(arguments) })).await
    }

    /// Gets a prompt.
    ///
    /// # Errors
    ///
    /// If the server refuses, or the prompt fails.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[prompt]
    /// async fn review(code: String) -> String { format!("Review this: {code}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("reviews", "1.0.0").prompts(prompts![review]));
    /// assert_eq!(client.get_prompt("review", json!({ "code": "1 + 1" })).await?.text(), "Review this: 1 + 1");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get_prompt(&self, prompt: &str, arguments: Value) -> Result<Reply<GetPromptResult>> {
        self.run("prompts/get", json!({ "name": prompt, "arguments": object(arguments) })).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// If the server refuses, or the resource fails.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// #[resource("note://{name}")]
    /// async fn note(name: String) -> String { format!("all about {name}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("notes", "1.0.0").resources(resources![note]));
    /// assert_eq!(client.read_resource("note://rust").await?.text(), "all about rust");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_resource(&self, uri: &str) -> Result<Reply<ReadResourceResult>> {
        self.run("resources/read", json!({ "uri": uri })).await
    }

    /// Asks for values of an argument that begins with what was typed.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    ///
    /// ```
    /// # use rejoinder::{model::Reference, prelude::*, testing::Client, call::CompletionRequest};
    /// async fn languages(_: CompletionRequest) -> Vec<String> { vec!["rust".into()] }
    ///
    /// #[prompt]
    /// async fn review(#[arg(complete = languages)] language: String) -> String { language }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("reviews", "1.0.0").prompts(prompts![review]));
    /// let completion = client.complete(Reference::for_prompt("review"), "language", "r").await?;
    /// assert_eq!(completion.values, ["rust"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn complete(&self, of: Reference, argument: &str, typed: &str) -> Result<CompletionInfo> {
        let params = json!({ "ref": of, "argument": { "name": argument, "value": typed } });
        let result = self.request("completion/complete", params).await?;
        read("completion/complete", &result["completion"])
    }

    /// Sends any request, and gives its result as it came.
    ///
    /// The client adds the `_meta` and headers of its era; an entry of `params._meta` wins over the client's own, and
    /// `null` takes it out. Questions are not answered: a round that ends in one is returned as it is, and in a session
    /// it is an error.
    ///
    /// # Errors
    ///
    /// If the server refuses, or asks something in a session.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let client = Client::new(Server::new("empty", "1.0.0"));
    /// let error = client.request("no/such/method", json!({})).await.unwrap_err();
    /// assert_eq!(error.code(), Some(-32601));
    /// # }
    /// ```
    pub async fn request(&self, method: &str, params: Value) -> Result<Value> {
        Ok(self.open(method, params).await?.finish().await?.result)
    }

    async fn run<R: DeserializeOwned>(&self, method: &str, params: Value) -> Result<Reply<R>> {
        let (outcome, Rounds { asked, ran }) = self.through(method, params).await?;
        Ok(Reply { asked, ran, ..Reply::read(method, &outcome)? })
    }
}
