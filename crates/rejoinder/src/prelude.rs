//! The types and macros that most servers need: `use rejoinder::prelude::*;`.

pub use crate::{
    Ask, BackgroundTasks, CallError, Context, Dep, Elicit, ElicitEnum, Json, Outcome, Reply, Rounds, Scope, Server,
    ServerHandle, SessionState, State, ToolStream,
    auth::Principal,
    call::{CallEnd, FieldError},
    completion, handlers,
    inject::PipeContext,
    pipe, prompt, prompts,
    reply::{Audio, Blob, Image, Text},
    resolver, resource, resources,
    server::Gated as _,
    tool, tools,
};
