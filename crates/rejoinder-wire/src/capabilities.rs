//! What a client and a server can do.

use crate::JsonObject;

object! {
    /// What a client can do.
    ///
    /// ```
    /// use rejoinder_wire::{ClientCapabilities, ElicitationCapability};
    /// use serde_json::json;
    ///
    /// let mut can = ClientCapabilities::default();
    /// can.elicitation = Some(ElicitationCapability::default());
    /// assert_eq!(json!(can), json!({ "elicitation": {} }));
    /// ```
    #[derive(Default)]
    pub struct ClientCapabilities {
        /// What is not standardised, by name.
        pub experimental: Option<JsonObject>,
        /// Extensions of the protocol, by name.
        pub extensions: Option<JsonObject>,
        /// It has folders that a server may know.
        pub roots: Option<RootsCapability>,
        /// It has a model that a server may ask.
        pub sampling: Option<SamplingCapability>,
        /// It has a user that a server may ask.
        pub elicitation: Option<ElicitationCapability>,
    }
}

object! {
    /// How a client shows its folders.
    ///
    /// ```
    /// let mut roots = rejoinder_wire::RootsCapability::default();
    /// roots.list_changed = Some(true);
    /// ```
    #[derive(Default)]
    pub struct RootsCapability {
        /// It says when they change.
        pub list_changed: Option<bool>,
    }
}

object! {
    /// What a server may ask of a client's model.
    ///
    /// ```
    /// let mut sampling = rejoinder_wire::SamplingCapability::default();
    /// sampling.tools = Some(serde_json::Map::new());
    /// ```
    #[derive(Default)]
    pub struct SamplingCapability {
        /// It can use tools.
        pub tools: Option<JsonObject>,
        /// It can be given the context of other servers.
        pub context: Option<JsonObject>,
    }
}

object! {
    /// How a client asks its user. Neither member means forms.
    ///
    /// ```
    /// let mut elicitation = rejoinder_wire::ElicitationCapability::default();
    /// elicitation.url = Some(serde_json::Map::new());
    /// ```
    #[derive(Default)]
    pub struct ElicitationCapability {
        /// With forms.
        pub form: Option<JsonObject>,
        /// With pages to visit.
        pub url: Option<JsonObject>,
    }
}

object! {
    /// What a server can do.
    ///
    /// ```
    /// use rejoinder_wire::{ServerCapabilities, ToolsCapability};
    /// use serde_json::json;
    ///
    /// let mut can = ServerCapabilities::default();
    /// can.tools = Some(ToolsCapability::default());
    /// assert_eq!(json!(can), json!({ "tools": {} }));
    /// ```
    #[derive(Default)]
    pub struct ServerCapabilities {
        /// What is not standardised, by name.
        pub experimental: Option<JsonObject>,
        /// Extensions of the protocol, by name.
        pub extensions: Option<JsonObject>,
        /// It sends log messages.
        pub logging: Option<JsonObject>,
        /// It completes arguments.
        pub completions: Option<JsonObject>,
        /// It has prompts.
        pub prompts: Option<PromptsCapability>,
        /// It has resources.
        pub resources: Option<ResourcesCapability>,
        /// It has tools.
        pub tools: Option<ToolsCapability>,
    }
}

object! {
    /// How a server offers prompts.
    ///
    /// ```
    /// let mut prompts = rejoinder_wire::PromptsCapability::default();
    /// prompts.list_changed = Some(true);
    /// ```
    #[derive(Default)]
    pub struct PromptsCapability {
        /// It says when their list changes.
        pub list_changed: Option<bool>,
    }
}

object! {
    /// How a server offers resources.
    ///
    /// ```
    /// let mut resources = rejoinder_wire::ResourcesCapability::default();
    /// resources.subscribe = Some(true);
    /// ```
    #[derive(Default)]
    pub struct ResourcesCapability {
        /// It says when one of them changes.
        pub subscribe: Option<bool>,
        /// It says when their list changes.
        pub list_changed: Option<bool>,
    }
}

object! {
    /// How a server offers tools.
    ///
    /// ```
    /// let mut tools = rejoinder_wire::ToolsCapability::default();
    /// tools.list_changed = Some(true);
    /// ```
    #[derive(Default)]
    pub struct ToolsCapability {
        /// It says when their list changes.
        pub list_changed: Option<bool>,
    }
}
