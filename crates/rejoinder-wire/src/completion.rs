use serde::{Deserialize, Serialize};

use crate::Other;

/// What a completion is for: an argument of a prompt, or a variable of a URI template.
///
/// ```
/// use rejoinder_wire::Reference;
/// use serde_json::json;
///
/// assert_eq!(json!(Reference::prompt("review")), json!({ "type": "ref/prompt", "name": "review" }));
/// assert_eq!(json!(Reference::resource("note://{id}")), json!({ "type": "ref/resource", "uri": "note://{id}" }));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Reference {
    /// A resource or a template.
    #[serde(rename = "ref/resource")]
    #[non_exhaustive]
    Resource {
        /// Its URI.
        uri: String,
        /// Members that are not known here.
        #[serde(flatten)]
        other: Other,
    },
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    #[non_exhaustive]
    Prompt {
        /// Its name.
        name: String,
        /// Its name, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Members that are not known here.
        #[serde(flatten)]
        other: Other,
    },
}

impl Reference {
    /// The prompt with this name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt { name: name.into(), title: None, other: Other::default() }
    }

    /// The resource or the template with this URI.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource { uri: uri.into(), other: Other::default() }
    }
}

object! {
    /// The values that complete an argument.
    ///
    /// ```
    /// use rejoinder_wire::CompletionInfo;
    /// use serde_json::json;
    ///
    /// let mut info = CompletionInfo::new(["red", "rose"]);
    /// info.has_more = Some(false);
    /// assert_eq!(json!(info), json!({ "values": ["red", "rose"], "hasMore": false }));
    /// ```
    #[derive(Default)]
    pub struct CompletionInfo {
        /// The values, at most a hundred.
        pub values: Vec<String>,
        /// How many there are in all.
        pub total: Option<u64>,
        /// Whether there are more.
        pub has_more: Option<bool>,
    }
}

impl CompletionInfo {
    /// These values.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}
