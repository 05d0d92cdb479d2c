//! What the macros write paths to. Not public: it changes without notice.

pub use rejoinder_core::{
    BoxFuture,
    call::{Call, Completing, Param, ReadParams},
    error::ToolError,
    inject::{FromCall, Injected, Need, NotInjected, Parameter, Probe},
    item::{
        Annotations, Function, IconDetails, Prompt, PromptDetails, PromptKind, Resource, ResourceDetails, ResourceKind,
        Tool, ToolDetails, ToolKind,
    },
    reply::{IntoPrompt, IntoReply, IntoResource},
};
pub use serde_json;
pub use std;
