//! Draws where each parameter comes from, and what is asked on the way.

use std::{
    any::TypeId,
    collections::{HashMap, HashSet},
    fmt::{self, Write},
};

use super::{BuiltServer, Server, registry::AnyItem, tool_filter::admits};
use crate::graph::{Edge, Instance, Keys, NodeArgument, schema_arguments};

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
pub struct Graph(Vec<AnyItem>);

impl Graph {
    /// The graph as a [Mermaid](https://mermaid.js.org) flowchart, which many Markdown viewers draw.
    ///
    /// Each item has a frame; resolvers that ask are hexagons.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for (index, item) in self.0.iter().enumerate() {
            let (keys, ids) = (Keys::of(&item.function().all_edges()), HashMap::new());
            Flowchart { prefix: format!("i{index}"), keys, ids, text: &mut text }.draw(item);
        }
        text
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            let mut tree =
                TextTree { keys: Keys::of(&item.function().all_edges()), seen: HashSet::new(), lines: Vec::new() };
            let (gates, inputs, edges) = (&item.function().gates, inputs(item), &item.function().edges);
            for (index, gate) in gates.iter().enumerate() {
                tree.resolver("", &gate.edge, "gate", index + 1 == gates.len() + inputs.len() + edges.len());
            }
            tree.branches("", &inputs, edges);
            let width = tree.lines.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
            writeln!(f, "{}{}", if index == 0 { "" } else { "\n" }, title(item))?;
            tree.lines.iter().try_for_each(|(left, right)| writeln!(f, "{left:width$}  {right}"))?;
        }
        Ok(())
    }
}

impl Server {
    /// Where the parameters of everything that the server offers come from.
    pub fn graph(&self) -> Graph {
        let items = self.items.iter().flatten().flatten().filter(|item| admits(&self.options.tool_filters, item));
        Graph(items.cloned().collect())
    }
}

impl BuiltServer {
    /// Where the parameters of everything that the server offers at this moment come from.
    pub fn graph(&self) -> Graph {
        Graph(self.0.registry().items().cloned().collect())
    }
}

fn title(item: &AnyItem) -> String {
    format!("{} {}", item.kind().noun(), item.name())
}

/// The key under which a resolver asks, if it asks.
fn asks<'k>(instance: &Instance, keys: &'k Keys) -> Option<&'k str> {
    instance.node.asks.then(|| keys.get(instance))
}

/// The parameters of an item that are not filled by resolvers.
fn inputs(item: &AnyItem) -> Vec<NodeArgument<'_>> {
    match item {
        // A tool that was made at run time has a schema instead.
        AnyItem::Tool(tool) if tool.is_dynamic() => schema_arguments(&tool.record().input_schema),
        item => item.function().inputs.to_vec(),
    }
}

fn arguments_first<'a>(inputs: &'a [NodeArgument<'a>]) -> Vec<&'a NodeArgument<'a>> {
    let mut inputs: Vec<_> = inputs.iter().collect();
    inputs.sort_by_key(|input| !input.is_argument);
    inputs
}

/// The tree of one item as text.
struct TextTree {
    keys: Keys,
    /// The resolvers whose own parameters were shown already.
    seen: HashSet<TypeId>,
    lines: Vec<(String, String)>,
}

impl TextTree {
    fn branches(&mut self, indent: &str, inputs: &[NodeArgument<'_>], edges: &[Edge]) {
        for (index, input) in arguments_first(inputs).into_iter().enumerate() {
            let (branch, below) = branch(index + 1 == inputs.len() + edges.len());
            let mut from = match input.header {
                Some(header) => format!("header `{header}`"),
                None if input.is_argument => "argument".to_owned(),
                None => "injected".to_owned(),
            };
            if !input.pipes.is_empty() {
                let pipes: Vec<_> = input.pipes.iter().map(|pipe| format!("`{}`", pipe.name)).collect();
                from = format!("{from}, through {}", pipes.join(", "));
            }
            self.lines.push((format!("{indent}{branch}{}: {}", input.name, input.written), from));
            let (inputs, edges): (Vec<_>, Vec<_>) = input.pipes.iter().map(|pipe| (pipe.arguments, pipe.edges)).unzip();
            self.branches(&format!("{indent}{below}"), &inputs.concat(), &edges.concat());
        }
        for (index, edge) in edges.iter().enumerate() {
            self.resolver(indent, edge, "from", index + 1 == edges.len());
        }
    }

    fn resolver(&mut self, indent: &str, edge: &Edge, word: &str, is_last: bool) {
        let (branch, below) = branch(is_last);
        let instance = (edge.instance)();
        let is_new = self.seen.insert(instance.type_id());
        let asks = asks(instance, &self.keys).map(|key| format!(", which asks as `{key}`")).unwrap_or_default();
        let again = if is_new { "" } else { ", as above" };
        let from = format!("{word} `{}`{asks}{again}", instance.shown());
        self.lines.push((format!("{indent}{branch}{}: {}", edge.parameter, edge.written), from));
        if is_new {
            self.branches(&format!("{indent}{below}"), instance.node.arguments, instance.edges);
        }
    }
}

/// How a line begins, and what is before those below it.
fn branch(is_last: bool) -> (&'static str, &'static str) {
    if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") }
}

/// The frame of one item in a Mermaid flowchart.
struct Flowchart<'a> {
    prefix: String,
    keys: Keys,
    /// The ids of what was drawn already.
    ids: HashMap<Drawn, String>,
    text: &'a mut String,
}

#[derive(PartialEq, Eq, Hash)]
enum Drawn {
    Input(String),
    Resolver(TypeId),
}

impl Flowchart<'_> {
    fn draw(&mut self, item: &AnyItem) {
        let (title, body) = (escaped(&title(item)), self.prefix.clone());
        let _ = writeln!(self.text, "    subgraph {body}_frame[\"{title}\"]");
        let _ = writeln!(self.text, "        {body}[[\"{title}\"]]");
        let gates: Vec<Edge> = item.function().gates.iter().map(|gate| gate.edge).collect();
        self.edges(&body, &gates);
        self.inputs(&body, &inputs(item));
        self.edges(&body, &item.function().edges);
        self.text.push_str("    end\n");
    }

    fn inputs(&mut self, to: &str, inputs: &[NodeArgument<'_>]) {
        for input in arguments_first(inputs) {
            let declared = format!("{}: {}", input.name, input.written);
            // A resolver may borrow what the item owns: it is the same argument, whatever its type.
            let (drawn, shape) = match (input.header, input.is_argument) {
                (Some(header), _) => (format!("{header} header"), format!("[/\"header {}\"/]", escaped(header))),
                (None, true) => (input.name.to_owned(), format!("([\"{}\"])", escaped(input.name))),
                (None, false) => (declared.clone(), format!("[/\"{}\"/]", escaped(input.written))),
            };
            let mut id = self.id(Drawn::Input(drawn), &shape);
            for pipe in input.pipes {
                // A pipe runs for each value, so each has its own.
                let next = self.id(Drawn::Input(format!("{id} | {}", pipe.name)), &format!("[\"{}\"]", pipe.name));
                let _ = writeln!(self.text, "        {id} --> {next}");
                self.inputs(&next, pipe.arguments);
                self.edges(&next, pipe.edges);
                id = next;
            }
            let _ = writeln!(self.text, "        {id} -->|\"{}\"| {to}", escaped(&declared));
        }
    }

    fn edges(&mut self, to: &str, edges: &[Edge]) {
        for edge in edges {
            let instance = (edge.instance)();
            let drawn = Drawn::Resolver(instance.type_id());
            let is_new = !self.ids.contains_key(&drawn);
            let name = escaped(&instance.shown());
            let shape = match asks(instance, &self.keys) {
                Some(key) => format!("{{{{\"{name}<br/>asks {}\"}}}}", escaped(key)),
                None => format!("[\"{name}\"]"),
            };
            let id = self.id(drawn, &shape);
            let label = escaped(&format!("{}: {}", edge.parameter, edge.written));
            let _ = writeln!(self.text, "        {id} -->|\"{label}\"| {to}");
            if is_new {
                self.inputs(&id, instance.node.arguments);
                self.edges(&id, instance.edges);
            }
        }
    }

    /// The id of something, which is drawn the first time.
    fn id(&mut self, drawn: Drawn, shape: &str) -> String {
        let next = format!("{}_{}", self.prefix, self.ids.len());
        let text = &mut *self.text;
        let id = self.ids.entry(drawn).or_insert_with(|| {
            let _ = writeln!(text, "        {next}{shape}");
            next
        });
        id.clone()
    }
}

/// Text that Mermaid shows as it is.
fn escaped(text: &str) -> String {
    let pairs = [("#", "#35;"), ("\"", "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("&", "#amp;")];
    pairs.iter().fold(text.to_owned(), |text, (sign, code)| text.replace(sign, code))
}
