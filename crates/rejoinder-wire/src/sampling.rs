//! Requests to the client's model and for its folders, and their answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{JsonObject, Other};

/// The params of `sampling/createMessage`: a request to the client's model.
///
/// ```
/// use rejoinder_wire::Sampling;
///
/// let haiku = Sampling::new("Write a haiku about the sea.").max_tokens(60).system("You are a poet.");
/// assert_eq!(haiku.params()["maxTokens"], 60);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sampling(JsonObject);

impl Sampling {
    /// One message of the user, and at most 1000 tokens in the reply.
    pub fn new(text: impl Into<String>) -> Self {
        let message = json!({ "role": "user", "content": { "type": "text", "text": text.into() } });
        Self(JsonObject::from_iter([("messages".into(), json!([message])), ("maxTokens".into(), json!(1000))]))
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

    /// All fields, as they are sent.
    pub fn params(&self) -> &JsonObject {
        &self.0
    }
}

object! {
    /// The reply of the client's model.
    ///
    /// ```
    /// use rejoinder_wire::Sample;
    ///
    /// let sample: Sample = serde_json::from_str(
    ///     r#"{ "model": "m-1", "role": "assistant", "content": { "type": "text", "text": "The sea." } }"#,
    /// )?;
    /// assert_eq!(sample.text(), "The sea.");
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    pub struct Sample {
        /// The name of the model.
        pub model: String,
        /// Who speaks, usually `assistant`.
        pub role: String,
        /// One content block, or a list of them.
        pub content: Value,
        /// Why it stopped.
        pub stop_reason: Option<String>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl Sample {
    /// A reply with this text that no model wrote, for the fallback of a question and for unit tests. A client sets `model`.
    pub fn new(text: impl Into<String>) -> Self {
        let content = json!({ "type": "text", "text": text.into() });
        let (model, role) = ("none".to_owned(), "assistant".to_owned());
        Self { model, role, content, stop_reason: None, meta: None, other: Other::default() }
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

object! {
    /// The result of `roots/list`: the folders that the client works in.
    ///
    /// ```
    /// use rejoinder_wire::Roots;
    ///
    /// let roots = Roots::new(["file:///srv/data"]);
    /// assert_eq!(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>(), ["file:///srv/data"]);
    /// ```
    #[derive(Eq)]
    pub struct Roots {
        /// The folders.
        pub roots: Vec<Root>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl Roots {
    /// The folders at these `file://` URIs, for the fallback of a question and for unit tests.
    pub fn new(uris: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { roots: uris.into_iter().map(Root::new).collect(), meta: None, other: Other::default() }
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

object! {
    /// A folder that the client works in.
    ///
    /// ```
    /// use rejoinder_wire::Root;
    /// use serde_json::json;
    ///
    /// let mut root = Root::new("file:///srv/data");
    /// root.name = Some("data".to_owned());
    /// assert_eq!(json!(root), json!({ "uri": "file:///srv/data", "name": "data" }));
    /// ```
    #[derive(Eq)]
    pub struct Root {
        /// Its `file://` URI.
        pub uri: String,
        /// Its display name.
        pub name: Option<String>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl Root {
    /// The folder at this `file://` URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: None, other: Other::default() }
    }
}
