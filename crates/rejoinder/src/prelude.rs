//! What most servers need: `use rejoinder::prelude::*;`.

pub use crate::{
    Ask, BackgroundTasks, CallEnd, CallError, Context, Dep, Elicit, ElicitEnum, Json, Outcome, Reply, Rounds, Scope,
    Server, ServerHandle, State, ToolStream, handlers, prompt, prompts,
    reply::{Audio, Blob, Image, Text},
    resolver, resource, resources, tool, tools,
};
