use serde::{Deserialize, Serialize};

use crate::{Implementation, JsonObject, Other, ServerCapabilities, meta_key};

/// What a result is.
///
/// ```
/// assert_eq!(serde_json::json!(rejoinder_wire::ResultType::InputRequired), "input_required");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultType {
    /// The call is over.
    Complete,
    /// The call continues when its questions are answered.
    InputRequired,
    /// The call continues as a task.
    Task,
    /// A type that is not known here.
    #[serde(untagged)]
    Other(String),
}

/// Who may share what a client keeps.
///
/// ```
/// assert_eq!(serde_json::json!(rejoinder_wire::CacheScope::Private), "private");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CacheScope {
    /// All callers.
    Public,
    /// The one caller who got it.
    #[default]
    Private,
    /// A scope that is not known here.
    #[serde(untagged)]
    Other(String),
}

object! {
    /// The result of `server/discover`.
    ///
    /// ```
    /// use rejoinder_wire::{DiscoverResult, ServerCapabilities, meta_key, version};
    /// use serde_json::json;
    ///
    /// let mut found = DiscoverResult::new([version::STATELESS], ServerCapabilities::default());
    /// found.meta = json!({ meta_key::SERVER_INFO: { "name": "shop", "version": "1.0.0" } }).as_object().cloned();
    /// assert_eq!(found.server_info().map(|server| server.name).as_deref(), Some("shop"));
    /// ```
    pub struct DiscoverResult {
        /// That it is complete.
        pub result_type: Option<ResultType>,
        /// The versions of the protocol that the server speaks, newest first.
        pub supported_versions: Vec<String>,
        /// What the server can do.
        pub capabilities: ServerCapabilities,
        /// How a model should use the server.
        pub instructions: Option<String>,
        /// For how many milliseconds a client may keep it.
        pub ttl_ms: Option<u64>,
        /// Who may share what a client keeps.
        pub cache_scope: Option<CacheScope>,
        /// What the protocol does not define, and who the server is.
        pub meta: Option<JsonObject>,
    }
}

impl DiscoverResult {
    /// A server with these versions and capabilities.
    pub fn new(
        supported_versions: impl IntoIterator<Item = impl Into<String>>,
        capabilities: ServerCapabilities,
    ) -> Self {
        Self {
            result_type: Some(ResultType::Complete),
            supported_versions: supported_versions.into_iter().map(Into::into).collect(),
            capabilities,
            instructions: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
            other: Other::default(),
        }
    }

    /// Who the server is.
    pub fn server_info(&self) -> Option<Implementation> {
        Implementation::deserialize(self.meta.as_ref()?.get(meta_key::SERVER_INFO)?).ok()
    }
}
