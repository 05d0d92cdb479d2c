use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{ContentBlock, Icon, JsonObject, ResultType};

object! {
    /// A tool, as `tools/list` shows it.
    ///
    /// ```
    /// use rejoinder_wire::{JsonObject, Tool};
    /// use serde_json::json;
    ///
    /// let tool = Tool::new("ping", "Says pong.", JsonObject::new());
    /// assert_eq!(json!(tool), json!({ "name": "ping", "description": "Says pong.", "inputSchema": {} }));
    /// ```
    #[derive(Default)]
    pub struct Tool {
        /// Its name.
        pub name: String,
        /// Its name, for people.
        pub title: Option<String>,
        /// What it does, for the model.
        pub description: Option<String>,
        /// The JSON Schema of its arguments.
        pub input_schema: Arc<JsonObject>,
        /// The JSON Schema of its structured result.
        pub output_schema: Option<Arc<JsonObject>>,
        /// What it does to the world.
        pub annotations: Option<ToolAnnotations>,
        /// Its pictures.
        pub icons: Option<Vec<Icon>>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl Tool {
    /// A tool with this name, description and schema of arguments.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: impl Into<Arc<JsonObject>>,
    ) -> Self {
        let (name, description) = (name.into(), Some(description.into()));
        Self { name, description, input_schema: input_schema.into(), ..Self::default() }
    }
}

object! {
    /// What a tool does to the world, as far as a client may believe its server.
    ///
    /// ```
    /// use rejoinder_wire::ToolAnnotations;
    ///
    /// let mut annotations = ToolAnnotations::default();
    /// annotations.read_only_hint = Some(true);
    /// ```
    #[derive(Default)]
    pub struct ToolAnnotations {
        /// Its name, for people.
        pub title: Option<String>,
        /// It changes nothing.
        pub read_only_hint: Option<bool>,
        /// It may destroy something.
        pub destructive_hint: Option<bool>,
        /// A second call with the same arguments changes nothing more.
        pub idempotent_hint: Option<bool>,
        /// It reaches systems outside of the server.
        pub open_world_hint: Option<bool>,
    }
}

object! {
    /// The result of `tools/call`.
    ///
    /// ```
    /// use rejoinder_wire::{CallToolResult, ContentBlock};
    ///
    /// let failed = CallToolResult::error(vec![ContentBlock::text("no such order")]);
    /// assert_eq!(failed.is_error, Some(true));
    /// ```
    #[derive(Default)]
    pub struct CallToolResult {
        /// That it is complete. Sessions do not have it.
        pub result_type: Option<ResultType>,
        /// What the model reads.
        #[serde(default)]
        pub content: Vec<ContentBlock>,
        /// What programs read. `null` is a value, too.
        #[serde(default, deserialize_with = "present")]
        pub structured_content: Option<Value>,
        /// Whether the tool failed.
        pub is_error: Option<bool>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

/// Keeps a `null` that was sent apart from a member that was not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl CallToolResult {
    /// What a tool returns that succeeded.
    pub fn success(content: Vec<ContentBlock>) -> Self {
        Self { content, is_error: Some(false), result_type: Some(ResultType::Complete), ..Self::default() }
    }

    /// What a tool returns that failed. The model reads why.
    pub fn error(content: Vec<ContentBlock>) -> Self {
        Self { is_error: Some(true), ..Self::success(content) }
    }
}
