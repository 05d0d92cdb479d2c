use std::{any::TypeId, collections::HashSet, fmt::Write};

use crate::graph::{Edge, Keys};

use super::{Inputs, Item, asks};

/// A tree for each item, with an empty line between them.
pub(super) fn draw(items: &[Item]) -> String {
    let trees: Vec<String> = items.iter().map(tree).collect();
    trees.join("\n")
}

fn tree(item: &Item) -> String {
    let mut tree = Tree { keys: Keys::of(&item.edges), seen: HashSet::new(), lines: Vec::new() };
    tree.branches("", &item.inputs, &item.edges);
    let width = tree.lines.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}\n", item.title);
    for (left, right) in tree.lines {
        let _ = writeln!(text, "{left:width$}  {right}");
    }
    text
}

struct Tree {
    keys: Keys,
    /// The resolvers whose own parameters were shown already.
    seen: HashSet<TypeId>,
    lines: Vec<(String, String)>,
}

impl Tree {
    fn branches(&mut self, indent: &str, inputs: &Inputs, edges: &[Edge]) {
        let named = |(name, ty): &(String, String), from: &str| (format!("{name}: {ty}"), from.to_owned());
        let inputs: Vec<_> = inputs
            .arguments
            .iter()
            .map(|argument| named(argument, "argument"))
            .collect::<Vec<_>>()
            .into_iter()
            .chain(inputs.injected.iter().map(|injected| named(injected, "injected")))
            .collect();
        let count = inputs.len() + edges.len();
        for (index, (left, right)) in inputs.into_iter().enumerate() {
            let branch = if index + 1 == count { "└─ " } else { "├─ " };
            self.lines.push((format!("{indent}{branch}{left}"), right));
        }
        for (index, edge) in edges.iter().enumerate() {
            let is_last = index + 1 == edges.len();
            self.resolver(indent, edge, is_last);
        }
    }

    fn resolver(&mut self, indent: &str, edge: &Edge, is_last: bool) {
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let instance = (edge.instance)();
        let is_new = self.seen.insert((instance.type_id)());
        let mut from = format!("from `{}`", instance.shown());
        if let Some(key) = asks(instance, &self.keys) {
            let _ = write!(from, ", which asks as `{key}`");
        }
        if !is_new {
            from.push_str(", as above");
        }
        self.lines.push((format!("{indent}{branch}{}: {}", edge.parameter, edge.written), from));
        if is_new {
            self.branches(&format!("{indent}{below}"), &Inputs::of(instance.node.arguments), instance.edges);
        }
    }
}
