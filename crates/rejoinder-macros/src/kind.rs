use proc_macro2::{Ident, Span};
use syn::Path;

use crate::names;

/// What a function is: one of the three that clients are offered, or a resolver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
    Resolver,
}

impl Kind {
    /// Those that clients are offered.
    pub(crate) const ITEMS: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// The kind that an attribute gives to a function, if it is one of ours: by its name alone, or with our crate's before it.
    pub(crate) fn of_attribute(path: &Path) -> Option<Self> {
        let segments: Vec<&Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        let word = match &*segments {
            [word] => word,
            [first, word] if names::rejoinder().to_string().replace([':', ' '], "") == first.to_string() => word,
            _ => return None,
        };
        Self::ITEMS.into_iter().chain([Self::Resolver]).find(|kind| *word == kind.word())
    }

    /// As the attribute and our sentences call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Resolver => "resolver",
        }
    }

    /// The marker type in `rejoinder`.
    pub(crate) fn marker(self) -> Ident {
        ident(match self {
            Self::Tool => "ToolKind",
            Self::Prompt => "PromptKind",
            Self::Resource => "ResourceKind",
            Self::Resolver => no_item(),
        })
    }

    /// What a server takes.
    pub(crate) fn item(self) -> Ident {
        ident(match self {
            Self::Tool => "Tool",
            Self::Prompt => "Prompt",
            Self::Resource => "Resource",
            Self::Resolver => no_item(),
        })
    }

    /// The method that a block under `#[handlers]` gains.
    pub(crate) fn method(self) -> Ident {
        ident(match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Resolver => no_item(),
        })
    }

    /// The trait in `rejoinder` of what can be an argument of it.
    pub(crate) fn argument(self) -> Ident {
        ident(match self {
            Self::Tool => "ToolArgument",
            Self::Prompt => "PromptArgument",
            Self::Resource => "ResourceArgument",
            Self::Resolver => "ResolverArgument",
        })
    }

    /// The trait in `rejoinder` of what it may return.
    pub(crate) fn reply(self) -> Ident {
        ident(match self {
            Self::Tool => "ToolReply",
            Self::Prompt => "PromptReply",
            Self::Resource => "ResourceReply",
            Self::Resolver => no_item(),
        })
    }

    /// The trait in `rejoinder` of what it may fail with.
    pub(crate) fn failure(self) -> Ident {
        ident(match self {
            Self::Tool => "ToolFailure",
            Self::Prompt => "PromptFailure",
            Self::Resource => "ResourceFailure",
            Self::Resolver => "ResolverFailure",
        })
    }
}

fn no_item() -> ! {
    unreachable!("a resolver is not offered to clients")
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
