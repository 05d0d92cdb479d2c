use std::{any::TypeId, collections::HashMap, fmt::Write};

use crate::graph::{Edge, Instance, Keys};

use super::{Inputs, Item, asks};

/// One picture, with a frame for each item. Whoever asks is a hexagon.
pub(super) fn draw(items: &[Item]) -> String {
    let mut text = String::from("flowchart LR\n");
    for (index, item) in items.iter().enumerate() {
        let mut frame =
            Frame { prefix: format!("i{index}"), keys: Keys::of(&item.edges), ids: HashMap::new(), text: &mut text };
        frame.draw(item);
    }
    text
}

struct Frame<'a> {
    prefix: String,
    keys: Keys,
    /// What was drawn already: arguments and injected values by what they say, resolvers by their type.
    ids: HashMap<Drawn, String>,
    text: &'a mut String,
}

#[derive(PartialEq, Eq, Hash)]
enum Drawn {
    Input(String),
    Resolver(TypeId),
}

impl Frame<'_> {
    fn draw(&mut self, item: &Item) {
        let Self { prefix, .. } = self;
        let (title, body) = (escaped(&item.title), prefix.clone());
        let _ = writeln!(self.text, "    subgraph {body}_frame[\"{title}\"]");
        let _ = writeln!(self.text, "        {body}[[\"{title}\"]]");
        self.inputs(&body, &item.inputs);
        self.edges(&body, &item.edges);
        self.text.push_str("    end\n");
    }

    fn inputs(&mut self, to: &str, inputs: &Inputs) {
        let shapes = [(&inputs.arguments, "([", "])"), (&inputs.injected, "[/", "/]")];
        for (inputs, open, close) in shapes {
            for (name, ty) in inputs {
                // A resolver may borrow what the item owns: it is the same argument.
                let says = if open == "([" { name.clone() } else { format!("{name}: {ty}") };
                let label = if open == "([" { name.as_str() } else { ty.as_str() };
                let id = self.id(Drawn::Input(says), |id| format!("{id}{open}\"{}\"{close}", escaped(label)));
                let _ = writeln!(self.text, "        {id} -->|\"{}\"| {to}", escaped(&format!("{name}: {ty}")));
            }
        }
    }

    fn edges(&mut self, to: &str, edges: &[Edge]) {
        for edge in edges {
            let instance = (edge.instance)();
            let ty = (instance.type_id)();
            let is_new = !self.ids.contains_key(&Drawn::Resolver(ty));
            let label = self.label(instance);
            let id = self.id(Drawn::Resolver(ty), |id| format!("{id}{label}"));
            let says = escaped(&format!("{}: {}", edge.parameter, edge.written));
            let _ = writeln!(self.text, "        {id} -->|\"{says}\"| {to}");
            if is_new {
                self.inputs(&id, &Inputs::of(instance.node.arguments));
                self.edges(&id, instance.edges);
            }
        }
    }

    fn label(&self, instance: &Instance) -> String {
        let name = escaped(&instance.shown());
        match asks(instance, &self.keys) {
            Some(key) => format!("{{{{\"{}<br/>asks {}\"}}}}", name, escaped(key)),
            None => format!("[\"{name}\"]"),
        }
    }

    /// The id of something, which is drawn when it is first met.
    fn id(&mut self, drawn: Drawn, draw: impl FnOnce(&str) -> String) -> String {
        if let Some(id) = self.ids.get(&drawn) {
            return id.clone();
        }
        let id = format!("{}_{}", self.prefix, self.ids.len());
        let _ = writeln!(self.text, "        {}", draw(&id));
        self.ids.insert(drawn, id.clone());
        id
    }
}

/// A text that Mermaid shows as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("#quot;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '&' => escaped.push_str("#amp;"),
            '#' => escaped.push_str("#35;"),
            other => escaped.push(other),
        }
    }
    escaped
}
