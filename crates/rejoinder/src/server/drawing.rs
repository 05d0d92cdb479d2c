//! Draws where each parameter comes from, and what is asked on the way.

use std::{
    any::TypeId,
    collections::{HashMap, HashSet},
    fmt,
};

use super::{BuiltServer, Server, registry::AnyItem, tool_filter::admits};
use crate::graph::{Edge, Keys, NodeArgument, schema_arguments};

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
        let mut flowchart = Flowchart { text: String::from("flowchart LR\n"), ..Flowchart::default() };
        for (index, item) in self.0.iter().enumerate() {
            let (title, body) = (escaped(&title(item)), format!("i{index}"));
            flowchart.line(&format!("subgraph {body}_frame[\"{title}\"]"));
            flowchart.line(&format!("    {body}[[\"{title}\"]]"));
            (flowchart.prefix, flowchart.ids) = (body.clone(), HashMap::new());
            flowchart.draw(&body, &branches_of(item));
            flowchart.line("end");
        }
        flowchart.text
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            let mut lines = Vec::new();
            write_tree("", &branches_of(item).iter().collect::<Vec<_>>(), &mut lines);
            let width = lines.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
            writeln!(f, "{}{}", if index == 0 { "" } else { "\n" }, title(item))?;
            lines.iter().try_for_each(|(left, right)| writeln!(f, "{left:width$}  {right}"))?;
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

/// A parameter, and what it comes from.
struct Branch {
    /// The parameter with its type.
    declared: String,
    /// What it comes from, in words.
    from: String,
    /// What it comes from, in a picture: the same one has the same name.
    drawn: String,
    shape: String,
    /// The pipes that its value passes, with the parameters of each.
    pipes: Vec<(&'static str, Vec<Branch>)>,
    /// The parameters of the resolver that it comes from, unless they are in an earlier branch.
    below: Vec<Branch>,
}

/// Where the parameters of an item come from. Gates come first.
fn branches_of(item: &AnyItem) -> Vec<Branch> {
    let function = item.function();
    let inputs = match item {
        // A tool that was made at run time has a schema instead.
        AnyItem::Tool(tool) if tool.is_dynamic() => schema_arguments(&tool.record().input_schema),
        _ => function.inputs.to_vec(),
    };
    let mut grown = Grown { keys: Keys::of(&function.all_edges()), seen: HashSet::new() };
    let mut branches: Vec<_> = function.gates.iter().map(|gate| grown.resolver(&gate.edge, "gate")).collect();
    branches.extend(grown.branches(&inputs, &function.edges));
    branches
}

/// What the branches of an item have in common.
struct Grown {
    keys: Keys,
    /// The resolvers that have a branch.
    seen: HashSet<TypeId>,
}

impl Grown {
    /// The branches of a function: arguments, what is injected, and then resolvers.
    fn branches(&mut self, inputs: &[NodeArgument<'_>], edges: &[Edge]) -> Vec<Branch> {
        let (arguments, injected): (Vec<_>, Vec<_>) = inputs.iter().partition(|input| input.is_argument);
        let mut branches: Vec<_> = arguments.into_iter().chain(injected).map(|input| self.input(input)).collect();
        branches.extend(edges.iter().map(|edge| self.resolver(edge, "from")));
        branches
    }

    fn input(&mut self, input: &NodeArgument<'_>) -> Branch {
        let declared = format!("{}: {}", input.name, input.written);
        // A resolver may borrow what the item owns: it is the same argument, whatever its type.
        let (mut from, drawn, shape) = match input.header {
            Some(header) => (
                format!("header `{header}`"),
                format!("{header} header"),
                format!("[/\"header {}\"/]", escaped(header)),
            ),
            None if input.is_argument => {
                ("argument".to_owned(), input.name.to_owned(), format!("([\"{}\"])", escaped(input.name)))
            }
            None => ("injected".to_owned(), declared.clone(), format!("[/\"{}\"/]", escaped(input.written))),
        };
        if !input.pipes.is_empty() {
            let pipes: Vec<_> = input.pipes.iter().map(|pipe| format!("`{}`", pipe.name)).collect();
            from += &format!(", through {}", pipes.join(", "));
        }
        let pipes = input.pipes.iter().map(|pipe| (pipe.name, self.branches(pipe.arguments, pipe.edges))).collect();
        Branch { declared, from, drawn, shape, pipes, below: Vec::new() }
    }

    fn resolver(&mut self, edge: &Edge, word: &str) -> Branch {
        let instance = (edge.instance)();
        let is_new = self.seen.insert(instance.type_id());
        let (mut from, name) = (format!("{word} `{}`", instance.shown()), escaped(&instance.shown()));
        let mut shape = format!("[\"{name}\"]");
        if instance.node.asks {
            let key = self.keys.get(instance);
            from += &format!(", which asks as `{key}`");
            shape = format!("{{{{\"{name}<br/>asks {}\"}}}}", escaped(key));
        }
        if !is_new {
            from += ", as above";
        }
        let below = if is_new { self.branches(instance.node.arguments, instance.edges) } else { Vec::new() };
        let (declared, drawn) = (format!("{}: {}", edge.parameter, edge.written), format!("{:?}", instance.type_id()));
        Branch { declared, from, drawn, shape, pipes: Vec::new(), below }
    }
}

/// Writes the two columns of a tree.
fn write_tree(indent: &str, branches: &[&Branch], lines: &mut Vec<(String, String)>) {
    for (index, branch) in branches.iter().enumerate() {
        let is_last = index + 1 == branches.len();
        let (sign, next) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        lines.push((format!("{indent}{sign}{}", branch.declared), branch.from.clone()));
        let below: Vec<_> = branch.pipes.iter().flat_map(|(_, below)| below).chain(&branch.below).collect();
        write_tree(&format!("{indent}{next}"), &below, lines);
    }
}

/// A Mermaid flowchart.
#[derive(Default)]
struct Flowchart {
    text: String,
    /// What the ids of this item begin with, and those of what was drawn already.
    prefix: String,
    ids: HashMap<String, String>,
}

impl Flowchart {
    fn line(&mut self, line: &str) {
        self.text += &format!("    {line}\n");
    }

    fn draw(&mut self, to: &str, branches: &[Branch]) {
        for branch in branches {
            let mut id = self.id(branch.drawn.clone(), &branch.shape);
            for (pipe, below) in &branch.pipes {
                // A pipe runs for each value, so each has its own.
                let next = self.id(format!("{id} | {pipe}"), &format!("[\"{pipe}\"]"));
                self.line(&format!("    {id} --> {next}"));
                self.draw(&next, below);
                id = next;
            }
            self.line(&format!("    {id} -->|\"{}\"| {to}", escaped(&branch.declared)));
            self.draw(&id, &branch.below);
        }
    }

    /// The id of something, which is drawn the first time.
    fn id(&mut self, drawn: String, shape: &str) -> String {
        let next = format!("{}_{}", self.prefix, self.ids.len());
        if let Some(id) = self.ids.get(&drawn) {
            return id.clone();
        }
        self.line(&format!("    {next}{shape}"));
        self.ids.insert(drawn, next.clone());
        next
    }
}

/// Text that Mermaid shows as it is.
fn escaped(text: &str) -> String {
    let pairs = [("#", "#35;"), ("\"", "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("&", "#amp;")];
    pairs.iter().fold(text.to_owned(), |text, (sign, code)| text.replace(sign, code))
}
