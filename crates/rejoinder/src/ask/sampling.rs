//! Sampling and roots.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A request to the client's model.
///
/// ```
/// use rejoinder::ask::Sampling;
///
/// let haiku = Sampling::new("Write a haiku about the sea.").max_tokens(60).system("You are a poet.");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling(Map<String, Value>);

impl Sampling {
    /// One message of the user, and at most 1000 tokens in the reply.
    pub fn new(text: impl Into<String>) -> Self {
        let message = json!({ "role": "user", "content": { "type": "text", "text": text.into() } });
        Self(Map::from_iter([("messages".into(), json!([message])), ("maxTokens".into(), json!(1000))]))
    }

    /// The maximum number of tokens in the reply.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.with("maxTokens", tokens.into())
    }

    /// The system prompt.
    #[must_use]
    pub fn system(self, prompt: impl Into<String>) -> Self {
        self.with("systemPrompt", prompt.into().into())
    }

    /// The temperature: how random the reply is.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.with("temperature", temperature.into())
    }

    /// Any other field of `sampling/createMessage`, as the protocol names it: `tools`, `toolChoice`, `modelPreferences`.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: Value) -> Self {
        self.0.insert(field.into(), value);
        self
    }

    pub(super) fn params(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(super) fn has_tools(&self) -> bool {
        self.0.contains_key("tools") || self.0.contains_key("toolChoice")
    }

    pub(super) fn has_context(&self) -> bool {
        self.0.get("includeContext").is_some_and(|context| context != "none")
    }
}

/// The reply of the client's model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Sample {
    /// The name of the model.
    pub model: String,
    /// Who speaks, usually `assistant`.
    pub role: String,
    /// One content block, or a list of them.
    pub content: Value,
    /// Why it stopped.
    #[serde(default)]
    pub stop_reason: Option<String>,
}

impl Sample {
    /// A reply with this text that no model wrote, for [`Ask::fallback`](super::Ask::fallback) and unit tests.
    ///
    /// ```
    /// use rejoinder::{Ask, ask::{Sample, Sampling}};
    ///
    /// fn summary(text: &str) -> Ask<Sample> {
    ///     let first = text.lines().next().unwrap_or_default();
    ///     Ask::sample(Sampling::new(format!("Summarise: {text}"))).fallback(Sample::new(first))
    /// }
    /// ```
    pub fn new(text: impl Into<String>) -> Self {
        let content = json!({ "type": "text", "text": text.into() });
        Self { model: "none".to_owned(), role: "assistant".to_owned(), content, stop_reason: None }
    }

    /// All text of the reply.
    pub fn text(&self) -> String {
        let blocks = match &self.content {
            Value::Array(blocks) => blocks.as_slice(),
            one => std::slice::from_ref(one),
        };
        blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect()
    }
}

/// The folders that the client works in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Roots {
    /// The folders.
    pub roots: Vec<Root>,
}

impl Roots {
    /// The folders at these `file://` URIs, for [`Ask::fallback`](super::Ask::fallback) and unit tests.
    ///
    /// ```
    /// use rejoinder::{Ask, ask::Roots};
    ///
    /// fn folders() -> Ask<Roots> {
    ///     Ask::roots().fallback(Roots::new(["file:///srv/data"]))
    /// }
    /// ```
    pub fn new(uris: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { roots: uris.into_iter().map(|uri| Root { uri: uri.into(), name: None }).collect() }
    }
}

impl IntoIterator for Roots {
    type Item = Root;
    type IntoIter = std::vec::IntoIter<Root>;

    fn into_iter(self) -> Self::IntoIter {
        self.roots.into_iter()
    }
}

impl<'a> IntoIterator for &'a Roots {
    type Item = &'a Root;
    type IntoIter = std::slice::Iter<'a, Root>;

    fn into_iter(self) -> Self::IntoIter {
        self.roots.iter()
    }
}

/// A folder that the client works in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// Its `file://` URI.
    pub uri: String,
    /// Its display name.
    #[serde(default)]
    pub name: Option<String>,
}
