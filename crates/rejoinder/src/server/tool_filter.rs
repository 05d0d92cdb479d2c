//! Which tools a server offers to all callers: the others do not exist.

use std::borrow::Cow;

use super::registry::{AnyItem, similar};

/// What a tool must be to be offered.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolFilter(Vec<FilterRule>);

#[derive(Debug, Clone)]
enum FilterRule {
    Only(ListedNames),
    Except(ListedNames),
    Tagged(ListedNames),
    ReadOnly,
}

/// Names, and what they were given to.
#[derive(Debug, Clone)]
struct ListedNames {
    names: Vec<String>,
    given_to: &'static str,
}

impl ToolFilter {
    pub(super) fn only(&mut self, names: Vec<String>, given_to: &'static str) {
        self.0.push(FilterRule::Only(ListedNames { names, given_to }));
    }

    pub(super) fn except(&mut self, names: Vec<String>) {
        self.0.push(FilterRule::Except(ListedNames { names, given_to: "`Server::deny_tools`" }));
    }

    pub(super) fn tagged(&mut self, names: Vec<String>) {
        self.0.push(FilterRule::Tagged(ListedNames { names, given_to: "`Server::only_tagged`" }));
    }

    pub(super) fn read_only(&mut self) {
        self.0.push(FilterRule::ReadOnly);
    }

    /// Whether an item is offered. Prompts and resources are.
    pub(super) fn admits(&self, item: &AnyItem) -> bool {
        let AnyItem::Tool(tool) = item else { return true };
        self.0.iter().all(|rule| match rule {
            FilterRule::Only(listed) => listed.names.iter().any(|name| name == tool.name()),
            FilterRule::Except(listed) => !listed.names.iter().any(|name| name == tool.name()),
            FilterRule::Tagged(listed) => tool.tags().any(|tag| listed.names.iter().any(|name| name == tag)),
            FilterRule::ReadOnly => {
                tool.record().annotations.as_ref().is_some_and(|hints| hints.read_only_hint == Some(true))
            }
        })
    }

    /// The names and tags that no tool has: what they were given to, and what is wrong.
    pub(super) fn mistakes(&self, items: &[AnyItem]) -> Vec<(&'static str, String)> {
        let tools = || items.iter().filter_map(|item| if let AnyItem::Tool(tool) = item { Some(tool) } else { None });
        let names: Vec<&str> = tools().map(|tool| tool.name()).collect();
        let tags: Vec<&str> = tools().flat_map(|tool| tool.tags()).collect();
        let mut mistakes = Vec::new();
        for rule in &self.0 {
            let (listed, known, what) = match rule {
                FilterRule::Only(listed) | FilterRule::Except(listed) => (listed, &names, "there is no tool"),
                FilterRule::Tagged(listed) => (listed, &tags, "no tool has the tag"),
                FilterRule::ReadOnly => continue,
            };
            for name in listed.names.iter().filter(|name| !known.contains(&name.as_str())) {
                let meant = similar(name, known.iter().copied());
                let meant = meant.map_or(Cow::Borrowed(""), |meant| format!("; did you mean `{meant}`?").into());
                mistakes.push((listed.given_to, format!("{what} `{name}`{meant}")));
            }
        }
        mistakes
    }
}
