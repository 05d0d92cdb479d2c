use std::sync::Arc;

use crate::{
    call::Dependencies,
    item::{Prompt, Resource, Tool},
    model::Implementation,
};

use super::{BuildError, ServerHandle, build::build, engine::Engine, options::Options};

/// An MCP server, while it is put together.
///
/// ```
/// use rejoinder::prelude::*;
///
/// /// Add two numbers.
/// #[tool]
/// async fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let server = Server::new("calculator", "1.0.0").tools(tools![add]);
/// assert!(server.check().is_ok());
/// ```
#[must_use = "a server does nothing until it is served"]
#[derive(Debug)]
pub struct Server {
    pub(crate) info: Implementation,
    pub(super) instructions: Option<String>,
    pub(super) dependencies: Dependencies,
    pub(super) tools: Option<Vec<Tool>>,
    pub(super) prompts: Option<Vec<Prompt>>,
    pub(super) resources: Option<Vec<Resource>>,
    /// Whether tools were nested under no name.
    pub(super) has_unnamed_nest: bool,
    pub(crate) options: Options,
}

impl Server {
    /// A server of that name and version, which offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            dependencies: Dependencies::default(),
            tools: None,
            prompts: None,
            resources: None,
            has_unnamed_nest: false,
            options: Options::default(),
        }
    }

    /// The name that people read.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// One sentence about the server.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// How a model should use the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Provides a service to every `Dep<T>` parameter, in place of an earlier one of its type.
    ///
    /// A parameter that can do without is an `Option<Dep<T>>`:
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// struct Mailer;
    ///
    /// #[tool]
    /// async fn close(mailer: Option<Dep<Mailer>>) -> &'static str {
    ///     if mailer.is_some() { "closed, and everybody told" } else { "closed" }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let server = || Server::new("tickets", "1.0.0").tools(tools![close]);
    /// assert_eq!(Client::new(server()).call_tool("close", json!({})).await?.text(), "closed");
    /// let client = Client::new(server().provide(Mailer));
    /// assert_eq!(client.call_tool("close", json!({})).await?.text(), "closed, and everybody told");
    /// # Ok(())
    /// # }
    /// ```
    pub fn provide<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.provide_arc(Arc::new(service))
    }

    /// [`Server::provide`] for a service that others hold too, or that is known by a trait.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// trait Store: Send + Sync {
    ///     fn count(&self) -> usize;
    /// }
    ///
    /// struct Memory(Vec<String>);
    ///
    /// impl Store for Memory {
    ///     fn count(&self) -> usize { self.0.len() }
    /// }
    ///
    /// #[tool]
    /// async fn count(store: Dep<dyn Store>) -> usize { store.count() }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let store: Arc<dyn Store> = Arc::new(Memory(vec!["tea".into()]));
    /// let client = Client::new(Server::new("shop", "1.0.0").provide_arc(store).tools(tools![count]));
    /// assert_eq!(client.call_tool("count", json!({})).await?.text(), "1");
    /// # Ok(())
    /// # }
    /// ```
    pub fn provide_arc<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.dependencies.insert(service);
        self
    }

    /// Offers tools. With an empty list it declares that there may be some later.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.get_or_insert_default().extend(tools);
        self
    }

    /// Offers tools under a name of their own, which goes before theirs: `buy` of `shop` becomes `shop_buy`.
    ///
    /// For parts that are written apart, or the same part twice. Not every client takes a `.` or `/` in a tool's name, so
    /// it is a `_` that joins the two. An empty name is a mistake.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// mod shop {
    ///     use rejoinder::prelude::*;
    ///
    ///     #[tool]
    ///     async fn buy(item: String) -> String {
    ///         format!("one {item}")
    ///     }
    ///
    ///     pub fn tools() -> Vec<rejoinder::Tool> {
    ///         tools![buy]
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("town", "1.0.0").nest("shop", shop::tools()));
    /// assert_eq!(client.call_tool("shop_buy", json!({ "item": "tea" })).await?.text(), "one tea");
    /// # Ok(())
    /// # }
    /// ```
    pub fn nest(mut self, name: &str, tools: impl IntoIterator<Item = Tool>) -> Self {
        if name.is_empty() {
            self.has_unnamed_nest = true;
            // The rest of what is wrong is told under the names that their author gave them.
            return self.tools(tools);
        }
        let nested = tools.into_iter().map(|tool| {
            let whole = format!("{name}_{}", tool.name());
            tool.renamed(whole)
        });
        self.tools(nested)
    }

    /// Offers prompts. With an empty list it declares that there may be some later.
    pub fn prompts(mut self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        self.prompts.get_or_insert_default().extend(prompts);
        self
    }

    /// Offers resources and templates. With an empty list it declares that there may be some later.
    pub fn resources(mut self, resources: impl IntoIterator<Item = Resource>) -> Self {
        self.resources.get_or_insert_default().extend(resources);
        self
    }

    /// Checks how the server is put together: one line of test for every wiring mistake.
    ///
    /// # Errors
    ///
    /// Every mistake there is.
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// struct Database;
    ///
    /// #[tool]
    /// async fn count(database: Dep<Database>) -> u64 { 0 }
    ///
    /// let mistakes = Server::new("shop", "1.0.0").tools(tools![count]).check().unwrap_err();
    /// assert!(mistakes.to_string().contains("parameter `database` needs a"));
    /// ```
    pub fn check(self) -> Result<(), BuildError> {
        build(self).map(|_| ())
    }

    /// Puts the server together.
    ///
    /// # Errors
    ///
    /// Every mistake there is.
    pub fn build(self) -> Result<BuiltServer, BuildError> {
        build(self).map(BuiltServer)
    }
}

/// A server whose wiring was found right, ready to be served or mounted.
#[derive(Debug, Clone)]
pub struct BuiltServer(pub(crate) Arc<Engine>);

impl TryFrom<Server> for BuiltServer {
    type Error = BuildError;

    fn try_from(server: Server) -> Result<Self, BuildError> {
        server.build()
    }
}

impl BuiltServer {
    /// A handle that changes what the server offers while it runs.
    pub fn handle(&self) -> ServerHandle {
        ServerHandle::new(Arc::downgrade(&self.0))
    }
}
