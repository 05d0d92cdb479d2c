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

    /// The type in `rejoinder` of what its attribute says.
    pub(crate) fn details(self) -> Ident {
        ident(match self {
            Self::Tool => "ToolDetails",
            Self::Prompt => "PromptDetails",
            Self::Resource => "ResourceDetails",
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

    /// The trait in `rejoinder` of what it may return.
    pub(crate) fn reply(self) -> Ident {
        ident(match self {
            Self::Tool => "IntoToolResult",
            Self::Prompt => "IntoPromptResult",
            Self::Resource => "IntoResourceContents",
            Self::Resolver => no_item(),
        })
    }
}

fn no_item() -> ! {
    unreachable!("a resolver is not offered to clients")
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
