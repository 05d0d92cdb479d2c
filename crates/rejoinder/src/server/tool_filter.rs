//! Which tools a server offers to all callers: the others do not exist.

use super::registry::{AnyItem, similar};
use crate::item::Tool;

/// A rule about the tools that are offered.
#[derive(Debug, Clone)]
pub(crate) struct ToolFilter {
    pub(super) rule: FilterRule,
    /// The names or tags that the rule is about.
    pub(super) names: Vec<String>,
    /// Where the author, or a flag, set the rule.
    pub(super) set_by: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterRule {
    Named,
    NotNamed,
    Tagged,
    ReadOnly,
}

/// Whether the rules admit an item. They admit every prompt and resource.
pub(super) fn admits(rules: &[ToolFilter], item: &AnyItem) -> bool {
    let AnyItem::Tool(tool) = item else { return true };
    rules.iter().all(|filter| {
        let is_listed = |name: &str| filter.names.iter().any(|listed| listed == name);
        match filter.rule {
            FilterRule::Named => is_listed(tool.name()),
            FilterRule::NotNamed => !is_listed(tool.name()),
            FilterRule::Tagged => tool.tags().any(is_listed),
            FilterRule::ReadOnly => {
                tool.record().annotations.as_ref().is_some_and(|hints| hints.read_only_hint == Some(true))
            }
        }
    })
}

impl ToolFilter {
    /// What is wrong with the names and tags that no tool has.
    pub(super) fn mistakes(&self, items: &[AnyItem]) -> Vec<String> {
        let tools = items.iter().filter_map(|item| if let AnyItem::Tool(tool) = item { Some(tool) } else { None });
        let (known, what): (Vec<&str>, _) = match self.rule {
            FilterRule::Tagged => (tools.flat_map(Tool::tags).collect(), "no tool has the tag"),
            _ => (tools.map(Tool::name).collect(), "there is no tool"),
        };
        let unknown = self.names.iter().filter(|name| !known.contains(&name.as_str()));
        let mistake = |name: &String| {
            let meant = similar(name, known.iter().copied()).map(|meant| format!("; did you mean `{meant}`?"));
            format!("{what} `{name}`{}", meant.unwrap_or_default())
        };
        unknown.map(mistake).collect()
    }
}
