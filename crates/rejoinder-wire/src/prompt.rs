use crate::{ContentBlock, Icon, JsonObject, Other, ResultType, Role};

object! {
    /// A prompt, as `prompts/list` shows it.
    ///
    /// ```
    /// use rejoinder_wire::{Prompt, PromptArgument};
    /// use serde_json::json;
    ///
    /// let mut prompt = Prompt::new("review");
    /// prompt.arguments = Some(vec![PromptArgument::new("code")]);
    /// assert_eq!(json!(prompt), json!({ "name": "review", "arguments": [{ "name": "code" }] }));
    /// ```
    #[derive(Default)]
    pub struct Prompt {
        /// Its name.
        pub name: String,
        /// Its name, for people.
        pub title: Option<String>,
        /// What it is for.
        pub description: Option<String>,
        /// Its arguments.
        pub arguments: Option<Vec<PromptArgument>>,
        /// Its pictures.
        pub icons: Option<Vec<Icon>>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl Prompt {
    /// A prompt with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

object! {
    /// An argument of a prompt.
    ///
    /// ```
    /// use rejoinder_wire::PromptArgument;
    ///
    /// let mut code = PromptArgument::new("code");
    /// code.required = Some(true);
    /// ```
    #[derive(Default)]
    pub struct PromptArgument {
        /// Its name.
        pub name: String,
        /// Its name, for people.
        pub title: Option<String>,
        /// What it is for.
        pub description: Option<String>,
        /// Whether it must be sent.
        pub required: Option<bool>,
    }
}

impl PromptArgument {
    /// An argument with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

object! {
    /// A message of a prompt.
    ///
    /// ```
    /// use rejoinder_wire::{ContentBlock, PromptMessage, Role};
    ///
    /// let message = PromptMessage::new(Role::User, ContentBlock::text("Review this."));
    /// ```
    pub struct PromptMessage {
        /// Who says it.
        pub role: Role,
        /// What is said.
        pub content: ContentBlock,
    }
}

impl PromptMessage {
    /// A message of this role.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self { role, content, other: Other::default() }
    }

    /// A text of this role.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, ContentBlock::text(text))
    }
}

object! {
    /// The result of `prompts/get`.
    ///
    /// ```
    /// use rejoinder_wire::{GetPromptResult, PromptMessage, Role};
    ///
    /// let mut result = GetPromptResult::new(vec![PromptMessage::text(Role::User, "Review this.")]);
    /// result.description = Some("A review".to_owned());
    /// ```
    pub struct GetPromptResult {
        /// That it is complete. Sessions do not have it.
        pub result_type: Option<ResultType>,
        /// What the prompt is for.
        pub description: Option<String>,
        /// The messages.
        pub messages: Vec<PromptMessage>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl GetPromptResult {
    /// These messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        let result_type = Some(ResultType::Complete);
        Self { result_type, description: None, messages, meta: None, other: Other::default() }
    }
}
