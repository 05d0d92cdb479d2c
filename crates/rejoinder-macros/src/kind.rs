use proc_macro2::{Ident, Span};

/// Which of the three a function is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// As the attribute and our sentences call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// The marker type in `rejoinder`.
    pub(crate) fn marker(self) -> Ident {
        ident(match self {
            Self::Tool => "ToolKind",
            Self::Prompt => "PromptKind",
            Self::Resource => "ResourceKind",
        })
    }

    /// What a server takes.
    pub(crate) fn item(self) -> Ident {
        ident(match self {
            Self::Tool => "Tool",
            Self::Prompt => "Prompt",
            Self::Resource => "Resource",
        })
    }

    /// The method that a block under `#[group]` gains.
    pub(crate) fn method(self) -> Ident {
        ident(match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
        })
    }

    /// The function in `rejoinder` that knows how a return type becomes a reply.
    pub(crate) fn replying(self) -> &'static str {
        match self {
            Self::Tool => "tool_reply",
            Self::Prompt => "prompt_reply",
            Self::Resource => "resource_reply",
        }
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
