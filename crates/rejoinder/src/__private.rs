//! What the macros write paths to. Not public: it changes without notice.

pub use rejoinder_core::{
    BoxFuture,
    call::{Call, Param, ReadParams, complete_with, default_of, show_default},
    error::ToolError,
    inject::{
        Need, NotArgument, NotInjected, Parameter, Probe, Suspect, check_argument, check_injected, needs, source,
    },
    item::{
        Annotations, Function, IconDetails, Kind, Prompt, PromptDetails, PromptFunction, PromptKind, Resource,
        ResourceDetails, ResourceFunction, ResourceKind, Tool, ToolDetails, ToolFunction, ToolKind,
    },
    reply::{Replying, prompt_reply, resource_reply, tool_reply},
};
pub use std::{
    self,
    boxed::Box,
    option::Option::{None, Some},
    primitive::{str, u8},
    result::Result,
    sync::Arc,
    vec::Vec,
};
