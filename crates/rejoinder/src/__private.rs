//! What the macros write paths to. Not public: it changes without notice.

pub use rejoinder_core::{
    BoxFuture,
    call::{Call, Completing, Param, ReadParams, default_of, show_default},
    error::ToolError,
    inject::{
        FromCall, Injected, Need, NotArgument, NotInjected, Parameter, Probe, check_argument, check_injected,
        check_parameter, needs, source,
    },
    item::{
        Annotations, Function, IconDetails, Kind, Prompt, PromptDetails, PromptKind, Resource, ResourceDetails,
        ResourceKind, Tool, ToolDetails, ToolKind,
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

/// For the fuzzer: opens any text as a state, seals any bytes, and checks that only what was sealed opens.
pub use crate::rounds::seal::fuzz as fuzz_state;
