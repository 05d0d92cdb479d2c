use proc_macro2::Ident;
use quote::format_ident;
use syn::Path;

use crate::names::pascal;

/// What a function is: one of the three that clients are offered, a resolver, a pipe, or a completion function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
    Resolver,
    Pipe,
    Completion,
}

impl Kind {
    /// Those that clients are offered.
    pub(crate) const ITEMS: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// The kind that an attribute gives to a function, if it is one of ours: by its name alone, or with our crate's before it.
    pub(crate) fn of_attribute(path: &Path) -> Option<Self> {
        let segments: Vec<&Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        let word = match &*segments {
            [word] => word,
            [first, word] if *first == "rejoinder" => word,
            _ => return None,
        };
        Self::ITEMS.into_iter().chain([Self::Resolver, Self::Pipe, Self::Completion]).find(|kind| *word == kind.word())
    }

    /// The options of its attribute.
    pub(crate) fn options(self) -> Vec<&'static str> {
        let of_items: &[&str] = &["name", "title", "description", "icon", "timeout", "enabled", "scopes"];
        let own: &[&str] = match self {
            Self::Tool => &["read_only", "destructive", "idempotent", "open_world", "blocking", "tags", "task"],
            Self::Resource => &["mime_type", "ttl_ms", "public"],
            Self::Resolver => &["key", "cache"],
            Self::Prompt | Self::Pipe | Self::Completion => &[],
        };
        let of_items = if Self::ITEMS.contains(&self) { of_items } else { &[] };
        [of_items, own, &["crate"]].concat()
    }

    /// Whether its first parameter is a value that it gets: a pipe, or a completion function.
    pub(crate) fn takes_a_value(self) -> bool {
        matches!(self, Self::Pipe | Self::Completion)
    }

    /// As the attribute and our sentences call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Resolver => "resolver",
            Self::Pipe => "pipe",
            Self::Completion => "completion",
        }
    }

    /// What a server takes.
    pub(crate) fn item(self) -> Ident {
        format_ident!("{}", pascal(self.word()))
    }

    /// The method that a block under `#[handlers]` gains.
    pub(crate) fn method(self) -> Ident {
        format_ident!("{}s", self.word())
    }

    /// The trait in `rejoinder` of what it may return.
    pub(crate) fn reply(self) -> Ident {
        let item = self.item();
        if self == Self::Resource { format_ident!("Into{item}Contents") } else { format_ident!("Into{item}Result") }
    }
}
