//! What a server offers, drawn: where each parameter comes from, and what is asked on the way.

mod mermaid;
mod text;

use std::fmt;

use crate::{
    graph::{Edge, Instance, ItemNode, Keys, NodeArgument},
    item::Tool,
};

use super::{BuiltServer, Server};

/// Where the parameters of everything that a server offers come from: arguments, resolvers with their questions, and
/// what is injected.
///
/// As text it is a tree for each tool, prompt and resource; [`Graph::mermaid`] draws a picture.
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[resolver]
/// fn confirm(path: &str) -> Ask<bool> {
///     Ask::confirm(format!("Delete {path}?"))
/// }
///
/// #[tool]
/// async fn delete(path: String, #[resolve(confirm)] sure: bool, ctx: Context) -> bool {
///     sure
/// }
///
/// let server = Server::new("files", "1.0.0").tools(tools![delete]);
/// assert_eq!(server.graph().to_string(), "\
/// tool delete
/// ├─ path: String   argument
/// ├─ ctx: Context   injected
/// └─ sure: bool     from `confirm`, which asks as `confirm`
///    └─ path: &str  argument
/// ");
/// assert!(server.graph().mermaid().starts_with("flowchart LR"));
/// ```
#[derive(Debug, Clone)]
pub struct Graph(Vec<Item>);

/// One tool, prompt or resource.
#[derive(Debug, Clone)]
struct Item {
    /// `tool delete`.
    title: String,
    inputs: Inputs,
    edges: Vec<Edge>,
}

/// What is not filled by resolvers: name and type.
#[derive(Debug, Clone, Default)]
struct Inputs {
    arguments: Vec<(String, String)>,
    injected: Vec<(String, String)>,
}

impl Item {
    fn of(kind: &str, name: &str, node: &'static ItemNode<'static>) -> Self {
        Self { title: format!("{kind} {name}"), inputs: Inputs::of(node.arguments), edges: node.edges.to_vec() }
    }

    /// A tool that was made at run time shows what its schema says.
    fn of_tool(tool: &Tool) -> Self {
        if let Some(node) = tool.node() {
            return Self::of("tool", tool.name(), node);
        }
        let properties = tool.record().input_schema.get("properties").and_then(|properties| properties.as_object());
        let arguments = properties.into_iter().flatten().map(|(name, schema)| {
            let ty = schema.get("type").and_then(|ty| ty.as_str()).unwrap_or("any");
            (name.clone(), ty.to_owned())
        });
        let inputs = Inputs { arguments: arguments.collect(), injected: Vec::new() };
        Self { title: format!("tool {}", tool.name()), inputs, edges: tool.edges().to_vec() }
    }
}

impl Inputs {
    fn of(arguments: &[NodeArgument<'_>]) -> Self {
        let of_kind = |is_argument| {
            let of_kind = arguments.iter().filter(move |argument| argument.is_argument == is_argument);
            of_kind.map(|argument| (argument.name.to_owned(), argument.written.to_owned())).collect()
        };
        Self { arguments: of_kind(true), injected: of_kind(false) }
    }
}

/// The key under which a resolver asks, if it asks.
fn asks<'k>(instance: &Instance, keys: &'k Keys) -> Option<&'k str> {
    instance.node.asks.then(|| keys.get(instance))
}

impl Graph {
    /// The graph in the language of [Mermaid](https://mermaid.js.org), which many viewers of Markdown draw.
    pub fn mermaid(&self) -> String {
        mermaid::draw(&self.0)
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::draw(&self.0))
    }
}

impl Server {
    /// Where the parameters of everything that it offers come from.
    pub fn graph(&self) -> Graph {
        let tools = self.tools.iter().flatten().map(Item::of_tool);
        let prompts = self.prompts.iter().flatten().map(|prompt| Item::of("prompt", prompt.name(), prompt.node()));
        let resources =
            self.resources.iter().flatten().map(|resource| Item::of("resource", resource.uri(), resource.node()));
        Graph(tools.chain(prompts).chain(resources).collect())
    }
}

impl BuiltServer {
    /// Where the parameters of everything that it offers at this moment come from.
    pub fn graph(&self) -> Graph {
        let registry = self.0.registry.load();
        let tools = registry.tools.iter().map(|(_, entry)| Item::of_tool(&entry.tool));
        let prompts =
            registry.prompts.iter().map(|(_, entry)| Item::of("prompt", entry.prompt.name(), entry.prompt.node()));
        let resources = registry.resources.iter().map(|(_, entry)| {
            let resource = &entry.resource;
            Item::of("resource", resource.uri(), resource.node())
        });
        Graph(tools.chain(prompts).chain(resources).collect())
    }
}
