//! What the attributes and doc comments of a function say.

use rmcp::model::Icon;

use crate::{reply::IntoToolResult, schema::OutputSchema};

/// What `#[tool]` knows besides the parameters.
#[derive(Debug, Clone, Copy)]
pub struct ToolDetails {
    /// The tool's name.
    pub name: &'static str,
    /// `title = ".."`.
    pub title: Option<&'static str>,
    /// The doc comment.
    pub description: Option<&'static str>,
    /// What the tool does to the world.
    pub annotations: Annotations,
    /// `icon(..)`.
    pub icons: &'static [IconDetails],
    /// The schema of what it returns.
    pub output_schema: fn() -> Option<OutputSchema>,
}

impl ToolDetails {
    /// A tool that returns an `R`, with nothing but its name.
    pub const fn of<R: IntoToolResult>(name: &'static str) -> Self {
        Self {
            name,
            title: None,
            description: None,
            annotations: Annotations::NONE,
            icons: &[],
            output_schema: R::output_schema,
        }
    }
}

/// What `#[prompt]` knows besides the parameters.
#[derive(Debug, Clone, Copy)]
pub struct PromptDetails {
    /// The prompt's name.
    pub name: &'static str,
    /// `title = ".."`.
    pub title: Option<&'static str>,
    /// The doc comment.
    pub description: Option<&'static str>,
    /// `icon(..)`.
    pub icons: &'static [IconDetails],
}

impl PromptDetails {
    /// A prompt with nothing but its name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, title: None, description: None, icons: &[] }
    }
}

/// What `#[resource("..")]` knows besides the parameters.
#[derive(Debug, Clone, Copy)]
pub struct ResourceDetails {
    /// The URI, or the URI template.
    pub uri: &'static str,
    /// The resource's name.
    pub name: &'static str,
    /// `title = ".."`.
    pub title: Option<&'static str>,
    /// The doc comment.
    pub description: Option<&'static str>,
    /// `mime_type = ".."`.
    pub mime_type: Option<&'static str>,
    /// `ttl_ms = ..`: for how long a client may keep the contents.
    pub ttl_ms: Option<u64>,
    /// `public`: whether a cache may hand the contents to other callers.
    pub public: Option<bool>,
    /// `icon(..)`.
    pub icons: &'static [IconDetails],
}

impl ResourceDetails {
    /// A resource with nothing but its URI and its name.
    pub const fn new(uri: &'static str, name: &'static str) -> Self {
        Self { uri, name, title: None, description: None, mime_type: None, ttl_ms: None, public: None, icons: &[] }
    }
}

/// What a tool does to the world, as hints to the client; unset is the protocol's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// It reaches beyond the server.
    pub open_world: Option<bool>,
}

impl Annotations {
    /// No hints.
    pub const NONE: Self = Self { read_only: None, destructive: None, idempotent: None, open_world: None };
}

/// `icon(src = "..", mime_type = "..", sizes = "..")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IconDetails {
    /// Where the picture is.
    pub src: &'static str,
    /// Its MIME type.
    pub mime_type: Option<&'static str>,
    /// Its sizes, such as `48x48`.
    pub sizes: Option<&'static str>,
}

impl IconDetails {
    /// The picture at that address.
    pub const fn new(src: &'static str) -> Self {
        Self { src, mime_type: None, sizes: None }
    }
}

pub(super) fn icons(details: &[IconDetails]) -> Option<Vec<Icon>> {
    let icons = details.iter().map(|details| {
        let mut icon = Icon::new(details.src);
        icon.mime_type = details.mime_type.map(str::to_owned);
        icon.sizes = details.sizes.map(|sizes| sizes.split_whitespace().map(str::to_owned).collect());
        icon
    });
    (!details.is_empty()).then(|| icons.collect())
}
