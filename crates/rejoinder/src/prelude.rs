//! The types and macros that most servers need: `use rejoinder::prelude::*;`.

pub use crate::{
    Ask, BackgroundTasks, CallEnd, CallError, Context, Dep, Elicit, ElicitEnum, FieldError, Json, Outcome, PipeContext,
    Reply, Rounds, Scope, Server, ServerHandle, SessionState, State, ToolStream,
    auth::Principal,
    completion, handlers, pipe, prompt, prompts,
    reply::{Audio, Blob, Image, Text},
    resolver, resource, resources,
    server::Gated as _,
    tool, tools,
};
